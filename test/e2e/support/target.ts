import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { ApiClient } from '../../../testkit/api.ts'
import { startAnswering } from '../../../testkit/listeners.ts'
import type { TestService } from '../../../testkit/service.ts'
import { ensureDashboard } from './dashboard.ts'
import { startService } from './service.ts'

/** A service without any data, with the dashboard. Its probes and webhooks may reach what a test starts here. */
export async function startEmpty(t: TestContext, environment: Record<string, string> = {}): Promise<TestService> {
  await ensureDashboard()
  return startService(t, { OUTBOUND_ALLOW: '127.0.0.0/8', ...environment })
}

/** A site whose tag server is here and can be broken, and a probe that asks it on demand. */
export interface Target {
  name: string
  clientId: string
  /** Has the tag server fail, or work, and its probe find that out. */
  turn: (state: 'bad' | 'good') => Promise<void>
}

/** @param client of the site; its own by default */
export async function addTarget(
  t: TestContext,
  api: ApiClient,
  name: string,
  client?: { id: string },
): Promise<Target> {
  let isBroken = false
  const url = await startAnswering(t, (_request, response) => {
    response.statusCode = isBroken ? 503 : 200
    response.end()
  })
  const owner = client ?? (await api.newClient({ name: `Owner of ${name}` }))
  const site = await api.newSite(owner, { name, tag_server_url: url, timezone: 'Europe/Berlin' })
  const probe = { site_id: site.id, probe_type: 'http_health', name: `Health of ${name}`, interval_seconds: 86_400 }
  const created = await api.call('POST', '/api/probes', probe)
  assert.equal(created.status, 201, created.text)
  const { id } = created.json<{ id: string }>()
  return {
    name,
    clientId: owner.id,
    async turn(state) {
      isBroken = state === 'bad'
      const wanted = isBroken ? 'critical' : 'ok'
      const run = () => api.call('POST', `/api/probes/${id}/run`)
      let ran = await run()
      // The first run of all begins by itself: where it is under way, it is what is waited for.
      if (ran.json<{ status: string }>().status !== wanted) ran = await run()
      assert.equal(ran.json<{ status: string }>().status, wanted, ran.text)
    },
  }
}
