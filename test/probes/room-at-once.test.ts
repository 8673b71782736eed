import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { systemClock } from '../../src/lib/index.ts'
import { createProbe } from '../../src/probes/api/changes.ts'
import { PROBE_TYPES, registryOf } from '../../src/probes/index.ts'
import { TestClock } from '../../testkit/clock.ts'
import { placeFor, postgres } from '../../testkit/engines.ts'
import { startTestService } from '../../testkit/service.ts'
import { until } from '../../testkit/until.ts'

// On SQLite one transaction follows the other.

test('of two probes that are added at once to sites of one client only one takes the last place', async (t) => {
  const api = await startTestService(t, new TestClock('2026-11-20T10:00:00Z'), await placeFor(postgres, t))
  const { store } = api.service
  const client = await api.newClient()
  const sites = [await api.newSite(client), await api.newSite(client)]
  const ctx = { store, clock: systemClock, actor: 'test' }
  const add = ({ id }: { id: string }) =>
    createProbe(ctx, registryOf(PROBE_TYPES), { site_id: id, probe_type: 'data_volume' }, 1)
  const waiting = async () =>
    (
      await sql`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`.execute(
        store.read,
      )
    ).rows.length
  const added = await store.write.transaction().execute(async (trx) => {
    await sql`lock table audit_log in share mode`.execute(trx)
    const both = sites.map(add)
    await until('both wait', async () => ((await waiting()) >= 2 ? true : undefined))
    return { both: Promise.allSettled(both) }
  })
  assert.deepEqual((await added.both).map(({ status }) => status).sort(), ['fulfilled', 'rejected'])
})
