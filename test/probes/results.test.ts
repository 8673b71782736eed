import assert from 'node:assert/strict'
import { sql } from 'kysely'
import { DAY, firstIdAt, MINUTE, newId, newOrderedId, SECOND } from '../../src/lib/index.ts'
import { RESULTS_PER_PROBE } from '../../src/probes/index.ts'
import { clearResults } from '../../src/probes/probes.ts'
import { finishedOf } from '../../src/probes/result.ts'
import { ResultWriter } from '../../src/probes/write-results.ts'
import {
  chunksOf,
  type ProbeRow,
  type Store,
  StoreError,
  type Tables,
  type Transaction,
} from '../../src/store/index.ts'
import { NOW, newClock } from '../../testkit/clock.ts'
import { postgres, testLogic, testOnEveryEngine } from '../../testkit/engines.ts'
import { insertProbe } from '../../testkit/probes.ts'
import { insertSite } from '../../testkit/sites.ts'
import { until } from '../../testkit/until.ts'
import { OK, openNode, probeRow, resultsOf, runDue, typeOf } from './support.ts'

testOnEveryEngine(
  'what follows from results is decided in their transaction, for those that are written',
  async (store, t) => {
    const site = await insertSite(store)
    const probe = await insertProbe(store, site.id)
    const seen: unknown[] = []
    const node = await openNode(t, store, newClock(), [typeOf(async () => OK)], {
      onResults: async (trx, written) => {
        const inside = await trx.selectFrom('probe_results').select('id').execute()
        for (const { probe: before, result, status } of written) {
          seen.push([before.last_status, status, inside.map(({ id }) => id).includes(result.id)])
        }
      },
    })
    await runDue(node)
    assert.deepEqual(seen, [[null, 'ok', true]])
    assert.equal((await resultsOf(store, probe.id)).length, 1)
  },
)

testOnEveryEngine(
  'results wait for a deletion that has begun to lock their probes, and do not stand in its way',
  async (store) => {
    const site = await insertSite(store)
    const claimed = { claimed_by: 'node', claimed_at: NOW }
    // The later one lies first in the table, where a plan finds it first.
    const b = await insertProbe(store, site.id, { ...claimed, id: 'bbbbbbbb-0000-4000-8000-000000000000' })
    const a = await insertProbe(store, site.id, { ...claimed, id: 'aaaaaaaa-0000-4000-8000-000000000000' })
    const node = { clock: newClock(), nodeId: 'node', onResults: async () => {}, onError: assert.fail }
    const writer = new ResultWriter({ store, ...node })
    const run = { outcome: OK, attempts: 1, executedAt: NOW }
    const added = [b, a].map((probe) => writer.add(finishedOf(probe, site, run)))
    const lock = (trx: Transaction<Tables>, { id }: ProbeRow) =>
      trx.selectFrom('probes').select('id').where('id', '=', id).forUpdate().execute()
    const deletion = async (trx: Transaction<Tables>) => {
      await lock(trx, a)
      const flushed = writer.flush()
      await until('the results wait', async () => {
        const { rows } = await sql`select 1 from pg_stat_activity
          where datname = current_database() and wait_event_type = 'Lock'`.execute(store.read)
        return rows.length > 0 || undefined
      })
      await lock(trx, b)
      return { flushed }
    }
    const { flushed } = await store.write.transaction().execute(deletion)
    await flushed
    assert.deepEqual(await Promise.all(added), [true, true])
  },
  [postgres],
)

testOnEveryEngine(
  'a result whose consequences fail is dropped with a report, and takes no other with it',
  async (store, t) => {
    const site = await insertSite(store)
    const bad = await insertProbe(store, site.id, { name: 'bad' })
    const good = await insertProbe(store, site.id, { name: 'good' })
    const node = await openNode(t, store, newClock(), [typeOf(async () => OK)], {
      onResults: async (trx, written) => {
        await trx.updateTable('write_checks').set({ checked_at: 1 }).execute()
        if (written.some(({ probe }) => probe.name === 'bad')) throw new Error('a fault of the alerts')
      },
    })
    await runDue(node)
    assert.equal((await resultsOf(store, good.id)).length, 1)
    assert.deepEqual(await resultsOf(store, bad.id), [])
    const row = await probeRow(store, bad.id)
    assert.equal(row.claimed_by, null)
    assert.ok(row.next_run_at > NOW)
    assert.ok(
      node.errors.includes(`writing a result of probe ${bad.id} (fake): a fault of the alerts`),
      `${node.errors}`,
    )
  },
)

testLogic('results that the store does not take now are written when it is well again', async (store, t) => {
  const site = await insertSite(store)
  const probe = await insertProbe(store, site.id)
  let isAway = true
  let runs = 0
  const type = typeOf(async () => {
    runs++
    return OK
  })
  const node = await openNode(t, store, newClock(), [type], {
    onResults: () => (isAway ? Promise.reject(new StoreError('busy', 'a lock could not be had')) : Promise.resolve()),
  })
  await runDue(node)
  assert.deepEqual(await resultsOf(store, probe.id), [])
  assert.notEqual((await probeRow(store, probe.id)).claimed_by, null)
  isAway = false
  await runDue(node)
  await node.probes.scheduler.write()
  assert.equal((await resultsOf(store, probe.id)).length, 1)
  assert.equal(runs, 1)
})

testOnEveryEngine('ids of results stand in the order of time, and a time has its place among them', async () => {
  const ids = [newOrderedId(NOW), newOrderedId(NOW), newOrderedId(NOW), newOrderedId(NOW + 1), newOrderedId(NOW + DAY)]
  assert.deepEqual([...ids].sort(), ids)
  assert.ok(firstIdAt(NOW) <= (ids[0] ?? ''))
  assert.ok(firstIdAt(NOW + 1) > (ids[2] ?? '') && firstIdAt(NOW + 1) <= (ids[3] ?? ''))
})

async function addResults(store: Store, probeId: string, times: readonly number[]): Promise<void> {
  const rows = times.map((at) => ({
    probe_id: probeId,
    id: newOrderedId(at),
    status: 'ok',
    message: '',
    response_time_ms: null,
    details: '{}',
    attempts: 1,
    executed_at: at,
  }))
  await store.write.insertInto('probe_results').values(rows).execute()
}

const writeDay = (store: Store, siteId: string, day: string) =>
  store.write
    .insertInto('site_days')
    .values({
      site_id: siteId,
      day,
      ok_ms: 0,
      warning_ms: 0,
      critical_ms: 0,
      maintenance_ms: 0,
      unknown_ms: 0,
      written_at: NOW,
    })
    .execute()

testOnEveryEngine('results go when they are too old or too many, or days after their probe', async (store) => {
  const site = await insertSite(store)
  await writeDay(store, site.id, new Date(NOW - DAY).toISOString().slice(0, 10))
  const daily = await insertProbe(store, site.id, { interval_seconds: 86_400 })
  const often = await insertProbe(store, site.id, { interval_seconds: 60 })
  const deleted = newId()
  await addResults(store, daily.id, [NOW - 91 * DAY, NOW - 90 * DAY - 1, NOW - 90 * DAY, NOW])
  const kept = NOW - RESULTS_PER_PROBE * MINUTE
  await addResults(store, often.id, [kept - 1, kept, NOW])
  await addResults(store, deleted, [NOW - 1, NOW])
  const [lately, earlier] = [newId(), newId()]
  for (const [id, removed_at] of [[lately, NOW] as const, [earlier, NOW - 4 * DAY - 1] as const]) {
    const removed = { id, site_id: site.id, probe_type: 'fake', interval_seconds: 60, removed_at }
    await store.write.insertInto('removed_probes').values(removed).execute()
    await addResults(store, id, [NOW - 4 * DAY - 1, NOW - 4 * DAY])
  }
  await clearResults(store, 90, NOW, () => false)
  assert.equal((await resultsOf(store, deleted)).length, 2)
  await clearResults(store, 90, NOW, () => true)
  assert.deepEqual(
    (await resultsOf(store, daily.id)).map((row) => row.executed_at),
    [NOW - 90 * DAY, NOW],
  )
  assert.deepEqual(
    (await resultsOf(store, often.id)).map((row) => row.executed_at),
    [kept, NOW],
  )
  assert.deepEqual(await resultsOf(store, deleted), [])
  assert.deepEqual(await resultsOf(store, earlier), [])
  assert.deepEqual(
    (await resultsOf(store, lately)).map((row) => row.executed_at),
    [NOW - 4 * DAY],
  )
  const removed = await store.read.selectFrom('removed_probes').select('id').execute()
  assert.deepEqual(removed, [{ id: lately }])
})

testOnEveryEngine('results of days that are not written stay until they are', async (store) => {
  const site = await insertSite(store, { timezone: 'Europe/Berlin' })
  const probe = await insertProbe(store, site.id, { interval_seconds: 30 })
  // In Berlin the day begins an hour before that of UTC, and a result of three hours before may reach into it.
  const open = Date.parse('2026-11-17T20:00:00Z')
  await addResults(store, probe.id, [open - 15 * DAY, open - 1, open, NOW])
  const left = async () => {
    await clearResults(store, 90, NOW, () => true)
    return (await resultsOf(store, probe.id)).map((row) => row.executed_at)
  }
  assert.deepEqual(await left(), [open - 1, open, NOW], 'no fault of writing days keeps them for ever')
  await writeDay(store, site.id, '2026-11-17')
  assert.deepEqual(await left(), [open, NOW])
  await writeDay(store, site.id, '2026-11-19')
  assert.deepEqual(await left(), [NOW])
})

testOnEveryEngine(
  'a probe that is run again and again keeps no more results than one of the shortest interval',
  async (store) => {
    const site = await insertSite(store)
    const { id } = await insertProbe(store, site.id, { interval_seconds: 86_400 })
    const times = Array.from(
      { length: RESULTS_PER_PROBE + 3 },
      (_, n) => NOW + (n - RESULTS_PER_PROBE - 3) * 10 * SECOND,
    )
    for (const chunk of chunksOf(times)) await addResults(store, id, chunk)
    await clearResults(store, 90, NOW, () => true)
    const kept = (await resultsOf(store, id)).map((row) => row.executed_at)
    assert.deepEqual([kept.length, kept[0], kept.at(-1)], [RESULTS_PER_PROBE, times[3], times.at(-1)])
  },
)

testLogic('more probes and results than one step takes are cleared in one go', async (store) => {
  const gone = Array.from({ length: 201 }, () => newId())
  for (const id of gone) await addResults(store, id, [NOW])
  const [first = ''] = gone
  await addResults(
    store,
    first,
    Array.from({ length: 2_100 }, (_, n) => NOW + n),
  )
  await clearResults(store, 90, NOW, () => true)
  assert.deepEqual(await store.read.selectFrom('probe_results').select('id').execute(), [])
})

testLogic('a result that judged nothing says why, and leaves the row of failures as it was', async (store, t) => {
  const site = await insertSite(store)
  const probe = await insertProbe(store, site.id, { consecutive_failures: 3, recent_statuses: 'occc' })
  const type = typeOf(async () => ({ ...OK, reason: 'learning' }))
  await runDue(await openNode(t, store, newClock(), [type]))
  const row = await probeRow(store, probe.id)
  assert.deepEqual([row.last_status, row.last_reason], ['ok', 'learning'])
  assert.deepEqual([row.consecutive_failures, row.recent_statuses], [3, 'occcu'])
  assert.deepEqual(
    (await resultsOf(store, probe.id)).map(({ status, reason }) => [status, reason]),
    [['ok', 'learning']],
  )
})

testLogic('a finding is a judgement, whatever reason comes with it', async (store, t) => {
  const site = await insertSite(store)
  const probe = await insertProbe(store, site.id, { last_reason: 'no_data' })
  const type = typeOf(async () => ({ ...OK, status: 'critical', reason: 'learning' }))
  await runDue(await openNode(t, store, newClock(), [type]))
  const row = await probeRow(store, probe.id)
  assert.deepEqual([row.last_status, row.last_reason, row.recent_statuses], ['critical', null, 'c'])
})
