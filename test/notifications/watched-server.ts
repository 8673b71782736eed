import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { GATHER_MS, type OwnChannelRecord } from '../../src/notifications/index.ts'
import type { TestEngine } from '../../testkit/engines.ts'
import { startAnswering } from '../../testkit/listeners.ts'
import { stage } from './api-support.ts'

/** A client with a site whose tag server a probe asks: it answers what `find` says. */
export async function watchedServer(
  t: TestContext,
  engine: TestEngine,
  environment: Record<string, string> = {},
  global = false,
) {
  const api = await stage(t, engine, environment, global)
  let status = 200
  let text = 'ok'
  const target = await startAnswering(t, (_request, response) => {
    response.writeHead(status, { 'content-type': 'text/plain' }).end(text)
  })
  const client = await api.newClient({})
  const site = await api.newSite(client, { tag_server_url: target })
  const probe = { site_id: site.id, probe_type: 'http_health', interval_seconds: 3600, name: 'health' }
  const { id } = (await api.call('POST', '/api/probes', probe)).json<{ id: string }>()
  const path = `/api/clients/${client.id}/channels`
  return {
    ...api,
    client,
    path,
    add: async (body: object) => {
      const answer = await api.call('POST', path, body)
      assert.equal(answer.status, 201, answer.text)
      return answer.json<OwnChannelRecord>()
    },
    /** The probe runs once, and what is to be sent is. */
    find: async (found: number, said = 'ok') => {
      // After a jump of the clock a run is due, and one that has asked already would be joined and find what was.
      while ((api.service.worker?.probes.scheduler.active ?? 0) > 0) await setImmediate()
      status = found
      text = said
      assert.equal((await api.call('POST', `/api/probes/${id}/run`)).status, 200)
      api.clock.advance(3 * GATHER_MS + 1)
      await api.service.membership.beat()
      await api.run()
    },
  }
}
