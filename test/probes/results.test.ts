import assert from 'node:assert/strict'
import { sql } from 'kysely'
import { DAY, firstIdAt, newOrderedId } from '../../src/lib/index.ts'
import { finishedOf } from '../../src/probes/result.ts'
import { ResultWriter } from '../../src/probes/write-results.ts'
import { type ProbeRow, StoreError, type Tables, type Transaction } from '../../src/store/index.ts'
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

testOnEveryEngine('a change that two probes of a site see at once is marked once', async (store) => {
  const site = await insertSite(store)
  const claimed = { claimed_by: 'node', claimed_at: NOW }
  const probes = await Promise.all(['one', 'other'].map((name) => insertProbe(store, site.id, { ...claimed, name })))
  const node = { clock: newClock(), nodeId: 'node', onResults: async () => {}, onError: assert.fail }
  const writer = new ResultWriter({ store, ...node })
  const deployMarkers = ['42', '43'].map((toVersion) => ({ source: 'server container', fromVersion: '41', toVersion }))
  const run = { outcome: { ...OK, deployMarkers }, attempts: 1, executedAt: NOW }
  const added = probes.map((probe) => writer.add(finishedOf(probe, site, run)))
  await writer.flush()
  assert.deepEqual(await Promise.all(added), [true, true])
  const markers = await store.read.selectFrom('deploy_markers').select('to_version').orderBy('to_version').execute()
  assert.deepEqual(
    markers.map(({ to_version }) => to_version),
    ['42', '43'],
  )
})

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
