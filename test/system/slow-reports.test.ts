import assert from 'node:assert/strict'
import { systemClock } from '../../src/lib/index.ts'
import { eventPayload } from '../../testkit/deltas.ts'
import { placeFor, testPerEngine } from '../../testkit/engines.ts'
import { startTestService } from '../../testkit/service.ts'
import { until } from '../../testkit/until.ts'

testPerEngine('reports without an end hold up neither readiness nor ingest nor the overview', async (engine, t) => {
  const api = await startTestService(t, systemClock, await placeFor(engine, t))
  const site = await api.newSite(await api.newClient())
  const done = Promise.withResolvers<void>()
  let begun = 0
  // As many as could ever read at once, each for as long as this test runs.
  const slow = Array.from({ length: 12 }, () =>
    api.service.store.interactive.transaction().execute(async () => {
      begun++
      await done.promise
    }),
  )
  const ended = Promise.allSettled(slow)
  try {
    await until('all connections for reports are in use', () => begun > 0 || undefined)
    const report = api.call('GET', `/api/monitoring/sites/${site.id}/overview`)
    for (const path of ['/ready', '/health', '/metrics', '/api/dashboard/overview', `/badge/${site.id}.svg`]) {
      assert.equal((await api.call('GET', path)).status, 200, path)
    }
    assert.equal((await api.ingest(site, eventPayload({ timestamp_ms: Date.now() }))).status, 200)
    done.resolve()
    assert.equal((await report).status, 200)
  } finally {
    done.resolve()
    await ended
  }
})
