import assert from 'node:assert/strict'
import { test } from 'node:test'
import { apiClient } from '../../testkit/api.ts'
import { eventPayload } from '../../testkit/deltas.ts'
import { tempDir } from '../../testkit/engines.ts'
import { inTurn } from '../../testkit/length.ts'
import { startServerProcess } from '../../testkit/processes/server-process.ts'
import { until } from '../../testkit/until.ts'
import { pressureAttacks } from '../fuzz/pressure/attacks.ts'
import { Herd } from '../fuzz/pressure/herd.ts'

/** Of the connections of the full run. */
const SCALE = 0.05
const HEALTHY = 40

test('healthy senders are served beside slow and idle connections', inTurn(2, 3), async (t) => {
  const server = await startServerProcess(t, await tempDir(t))
  const port = Number(new URL(server.url).port)
  const api = apiClient(server.url)
  const client = await api.newClient()
  const victim = await api.newSite(client)
  const healthy = await api.newSite(client)
  const attacks = pressureAttacks({ key: victim.ingest_key, siteId: victim.id }, SCALE)
  for (const { name, connections, behaviour, fault } of attacks) {
    await t.test(name, async (part) => {
      const herd = new Herd(port, connections, behaviour)
      part.after(() => herd.end())
      await until('all connections are open', () => herd.open === connections || undefined)
      for (let i = 0; i < HEALTHY; i++) {
        assert.equal((await api.ingest(healthy, eventPayload({ timestamp_ms: Date.now() }))).status, 200)
      }
      await until('the attack is taken as it should be', () => fault(herd) === null || undefined)
      assert.equal((await api.call('GET', '/ready')).status, 200)
    })
  }
  const path = `/api/monitoring/sites/${healthy.id}/overview?hours=2`
  await until('all that was acknowledged is counted', async () => {
    const { total_events } = (await api.call('GET', path)).json<{ total_events: number }>()
    return total_events === attacks.length * HEALTHY || undefined
  })
})
