import assert from 'node:assert/strict'
import { test } from 'node:test'
import { HOUR, newId, newOrderedId } from '../../src/lib/index.ts'
import type { UptimeAnswer } from '../../src/uptime/index.ts'
import { insertAlert } from '../../testkit/alerts.ts'
import { TestClock } from '../../testkit/clock.ts'
import { eventPayload } from '../../testkit/deltas.ts'
import { insertProbe } from '../../testkit/probes.ts'
import { startTestService } from '../../testkit/service.ts'

test('the uptime of a site is answered by day, with what its tags delivered today', async (t) => {
  const clock = new TestClock('2026-11-20T10:00:00.000Z')
  const api = await startTestService(t, clock)
  const site = await api.newSite(await api.newClient())
  const { store } = api.service
  const now = clock.now()
  const hour = { next_run_at: now + 24 * HOUR, interval_seconds: 3_600, created_at: now }
  const probe = await insertProbe(store, site.id, hour)
  const result = { probe_id: probe.id, status: 'ok', reason: null, message: '', response_time_ms: null, details: '{}' }
  for (const at of [now - 2 * HOUR, now - HOUR]) {
    const run = { id: newOrderedId(at), attempts: 1, executed_at: at, maintenance_id: null }
    await store.write
      .insertInto('probe_results')
      .values({ ...result, ...run })
      .execute()
  }
  await insertAlert(store, site, now - HOUR, { probe_id: probe.id, confirmed_at: now - HOUR })
  await store.write
    .updateTable('sites')
    .set({ created_at: now - 24 * HOUR })
    .execute()
  assert.equal((await api.ingest(site, eventPayload({ timestamp_ms: now }))).status, 200)
  await api.service.ingest.flush()
  const answer = await api.call('GET', `/api/sites/${site.id}/uptime`)
  assert.equal(answer.status, 200, answer.text)
  const { days, uptime, delivered, first_day } = answer.json<UptimeAnswer>()
  const { day, status, ok_seconds, critical_seconds, unknown_seconds, is_final } = days.at(-1) ?? assert.fail()
  assert.deepEqual(
    { day, status, ok_seconds, critical_seconds, unknown_seconds, is_final },
    {
      day: '2026-11-20',
      status: 'critical',
      ok_seconds: 3_600,
      critical_seconds: 3_600,
      unknown_seconds: 8 * 3_600,
      is_final: false,
    },
  )
  assert.deepEqual([uptime, delivered, first_day], [0.5, 0.5, '2026-11-19'])
  assert.equal((await api.call('DELETE', `/api/probes/${probe.id}`)).status, 204)
  const later = await api.ask<UptimeAnswer>('GET', `/api/sites/${site.id}/uptime`)
  assert.deepEqual(later.days, days, 'a probe that is deleted takes none of what it saw along')
  assert.equal((await api.call('GET', `/api/sites/${newId()}/uptime`)).status, 404)
})
