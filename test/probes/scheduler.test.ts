import assert from 'node:assert/strict'
import { sql } from 'kysely'
import { DEAD_AFTER_MS } from '../../src/cluster/index.ts'
import { DAY, MINUTE, SECOND } from '../../src/lib/index.ts'
import { bringForward, nextRunAt } from '../../src/probes/claims.ts'
import type { ProbeOutcome } from '../../src/probes/index.ts'
import { MOST_MARKERS } from '../../src/probes/write-results.ts'
import { chunksOf } from '../../src/store/index.ts'
import { NOW, newClock } from '../../testkit/clock.ts'
import { testLogic, testOnEveryEngine } from '../../testkit/engines.ts'
import { insertProbe, newProbeRow } from '../../testkit/probes.ts'
import { insertSite } from '../../testkit/sites.ts'
import { steppingStore } from '../../testkit/stepping-store.ts'
import { until } from '../../testkit/until.ts'
import { asShared } from '../cluster/support.ts'
import { OK, openNode, probeRow, resultsOf, runDue, typeOf } from './support.ts'

testOnEveryEngine('a due probe runs, its result is written and its next run is on its grid', async (store, t) => {
  const site = await insertSite(store)
  // Its place on the grid is random: once a minute, it would be due again at once in one run of two hundred.
  const probe = await insertProbe(store, site.id, { memory: '{"version":"41"}', interval_seconds: 86_400 })
  const clock = newClock()
  const seen: unknown[] = []
  const type = typeOf(async ({ site: { id }, memory, now }) => {
    seen.push([id, memory, now])
    return {
      status: 'warning',
      message: 'version changed\0',
      details: { from: '41', to: '42' },
      responseTimeMs: 12.4,
      memory: { version: '42' },
      deployMarkers: [{ source: 'web container', fromVersion: '41', toVersion: '42' }],
    }
  })
  const node = await openNode(t, store, clock, [type])
  clock.advance(SECOND)
  await runDue(node)
  assert.deepEqual(seen, [[site.id, { version: '41' }, NOW + SECOND]])
  const [result, ...others] = await resultsOf(store, probe.id)
  assert.deepEqual(others, [])
  assert.deepEqual(
    { ...result, id: null },
    {
      probe_id: probe.id,
      id: null,
      status: 'warning',
      message: 'version changed\ufffd',
      response_time_ms: 12,
      details: '{"from":"41","to":"42"}',
      attempts: 1,
      executed_at: NOW + SECOND,
      maintenance_id: null,
      reason: null,
    },
  )
  const row = await probeRow(store, probe.id)
  assert.ok(row.next_run_at > clock.now() && row.next_run_at <= clock.now() + DAY)
  assert.deepEqual(
    [row.claimed_by, row.claimed_at, row.last_status, row.last_response_time_ms, row.last_result_at, row.memory],
    [null, null, 'warning', 12, NOW + SECOND, '{"version":"42"}'],
  )
  assert.equal(row.consecutive_failures, 1)
  const markers = await store.write.selectFrom('deploy_markers').selectAll().execute()
  assert.deepEqual(
    markers.map(({ id: _, ...marker }) => marker),
    [
      {
        site_id: site.id,
        at: NOW + SECOND,
        source: 'web container',
        from_version: '41',
        to_version: '42',
        details: '{}',
      },
    ],
  )
  await runDue(node)
  assert.equal(seen.length, 1)
})

testOnEveryEngine('of the deploy markers of a site the oldest make room for new ones', async (store, t) => {
  const site = await insertSite(store)
  await insertProbe(store, site.id)
  await sql`
    insert into deploy_markers (site_id, id, at, source, to_version, details)
    with recursive n (i) as (select 1 union all select i + 1 from n where i < ${sql.lit(MOST_MARKERS)})
    select cast(${site.id} as text), '00 ' || (100000 + i), 0, 'web container', '1', '{}' from n`.execute(store.write)
  const type = typeOf(async () => ({
    ...OK,
    deployMarkers: [{ source: 'web container', fromVersion: '41', toVersion: '42' }],
  }))
  const clock = newClock()
  const node = await openNode(t, store, clock, [type])
  clock.advance(SECOND)
  await runDue(node)
  const rows = await store.read.selectFrom('deploy_markers').select(['id', 'to_version']).orderBy('id').execute()
  assert.equal(rows.length, MOST_MARKERS)
  assert.deepEqual([rows[0]?.id, rows.at(-1)?.to_version], ['00 100002', '42'])
})

testLogic('warnings and criticals in a row are counted; an error neither adds nor ends', async (store, t) => {
  const site = await insertSite(store)
  const probe = await insertProbe(store, site.id)
  const clock = newClock()
  let status: ProbeOutcome['status'] = 'ok'
  const node = await openNode(t, store, clock, [typeOf(async () => ({ ...OK, status }))])
  const counts: number[] = []
  for (status of ['critical', 'error', 'warning', 'ok', 'error'] as const) {
    await runDue(node)
    counts.push((await probeRow(store, probe.id)).consecutive_failures)
    await node.membership.beat()
    clock.advance(MINUTE)
  }
  assert.deepEqual(counts, [1, 1, 2, 0, 0])
})

testLogic('however many runs were missed, one makes up for them', async (store, t) => {
  const site = await insertSite(store)
  const probe = await insertProbe(store, site.id, { next_run_at: NOW - 500 * MINUTE })
  const node = await openNode(t, store, newClock(), [typeOf(async () => OK)])
  await runDue(node)
  await runDue(node)
  assert.equal((await resultsOf(store, probe.id)).length, 1)
})

testLogic('what is not due, inactive, or of an inactive site or client does not run', async (store, t) => {
  const site = await insertSite(store)
  const off = await insertSite(store, { is_active: 0 })
  const clientOff = await insertSite(store)
  await store.write.updateTable('clients').set({ is_active: 0 }).where('id', '=', clientOff.client_id).execute()
  const ran: string[] = []
  const type = typeOf(async (context) => {
    ran.push(context.site.id)
    return OK
  })
  await insertProbe(store, site.id, { next_run_at: NOW + SECOND })
  await insertProbe(store, site.id, { is_active: 0 })
  await insertProbe(store, site.id, { probe_type: 'of_a_newer_program' })
  const resting = await insertProbe(store, off.id, { consecutive_failures: 1, recent_statuses: 'oc' })
  await insertProbe(store, clientOff.id)
  const clock = newClock()
  const node = await openNode(t, store, clock, [type])
  await runDue(node)
  assert.deepEqual(ran, [])
  const row = await probeRow(store, resting.id)
  assert.deepEqual([row.claimed_by, row.last_status], [null, null])
  assert.ok(row.next_run_at > NOW)
  // One bad result before the pause and one after it are not two in a row.
  assert.deepEqual([row.consecutive_failures, row.recent_statuses], [0, ''])
})

testOnEveryEngine('probes of one client that hang leave room for those of another', async (store, t) => {
  const [hanging, other] = [await insertSite(store), await insertSite(store)]
  const rows = Array.from({ length: 400 }, () =>
    newProbeRow(hanging.id, { next_run_at: NOW - MINUTE, timeout_ms: MINUTE }),
  )
  for (const chunk of chunksOf(rows)) await store.write.insertInto('probes').values(chunk).execute()
  const probe = await insertProbe(store, other.id)
  let ran = 0
  const type = typeOf(({ site, signal }) => {
    if (site.id === other.id) return Promise.resolve(OK).finally(() => ran++)
    return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
  })
  const { probes } = await openNode(t, store, newClock(), [type])
  await probes.scheduler.claim()
  assert.notEqual((await probeRow(store, probe.id)).claimed_by, null)
  await until('the probe of the other client runs', () => ran || undefined)
  assert.ok(probes.scheduler.active > 160, 'a client who has more due gets half of the places')
})

testLogic('runs by hand of one client that hang leave room for those of another', async (store, t) => {
  const [hanging, other] = [await insertSite(store), await insertSite(store)]
  const type = typeOf(({ site, signal }) =>
    site.id === other.id
      ? Promise.resolve(OK)
      : new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
  )
  const node = await openNode(t, store, newClock(), [type])
  const { scheduler } = node.probes
  const ids: string[] = []
  for (let n = 0; n < 32; n++) ids.push((await insertProbe(store, hanging.id, { next_run_at: NOW + MINUTE })).id)
  // Which eight are first is a matter of whose row the database reads first.
  const refused: string[] = []
  for (const id of ids) void scheduler.runNow(id).catch((thrown: Error) => refused.push(thrown.message))
  await until('all but eight are refused', () => refused.length >= ids.length - 8 || undefined)
  assert.deepEqual(
    [...new Set(refused)],
    ['8 probes of the client are already being run by hand: try again in a moment'],
  )
  const probe = await insertProbe(store, other.id, { next_run_at: NOW + MINUTE })
  const run = scheduler.runNow(probe.id)
  await until('it ran', async () => {
    await scheduler.write()
    return (await resultsOf(store, probe.id)).length > 0 || undefined
  })
  assert.equal((await run)?.status, 'ok')
})

testLogic(
  'what is due before the next round is claimed ahead, begins at its time and runs once for it',
  async (store, t) => {
    const site = await insertSite(store)
    const clock = newClock()
    const dueAt = NOW + 120
    // On the probe's own grid, as it is after any run.
    const { id } = await insertProbe(store, site.id)
    await store.write.updateTable('probes').set({ next_run_at: dueAt }).where('id', '=', id).execute()
    let ran = 0
    const node = await openNode(t, store, clock, [
      typeOf(async () => {
        ran++
        return OK
      }),
    ])
    await node.probes.scheduler.claim()
    assert.deepEqual([node.probes.scheduler.active, ran], [1, 0])
    clock.set(dueAt)
    await runDue(node)
    assert.equal(ran, 1)
    const row = await probeRow(store, id)
    assert.ok(row.next_run_at > dueAt)
    assert.deepEqual(
      (await resultsOf(store, id)).map((result) => result.executed_at),
      [dueAt],
    )
  },
)

testOnEveryEngine('what was claimed ahead runs once although the clock is set back meanwhile', async (store, t) => {
  const site = await insertSite(store)
  const clock = newClock()
  const dueAt = NOW + 250
  const { id } = await insertProbe(store, site.id)
  await store.write.updateTable('probes').set({ next_run_at: dueAt }).where('id', '=', id).execute()
  const node = await openNode(t, store, clock, [typeOf(async () => OK)])
  await node.probes.scheduler.claim()
  clock.set(NOW - 20)
  // Someone who asks for a run meanwhile gets this one.
  const asked = node.probes.scheduler.runNow(id)
  await runDue(node)
  assert.equal((await asked)?.status, 'ok')
  assert.equal((await resultsOf(store, id)).length, 1)
  assert.ok((await probeRow(store, id)).next_run_at > dueAt)
})

testOnEveryEngine(
  'a probe that ran while the clock was a year ahead runs again once that is set right',
  async (store, t) => {
    const site = await insertSite(store)
    const { id } = await insertProbe(store, site.id, { interval_seconds: 300 })
    const clock = newClock()
    const node = await openNode(t, store, clock, [typeOf(async () => OK)])
    clock.advance(365 * DAY)
    await runDue(node)
    assert.ok((await probeRow(store, id)).next_run_at > NOW + 365 * DAY)
    clock.set(NOW + MINUTE)
    await runDue(node)
    const { next_run_at } = await probeRow(store, id)
    assert.ok(next_run_at <= NOW + 2 * MINUTE + 1, 'soon')
    clock.set(next_run_at)
    await runDue(node)
    assert.equal((await resultsOf(store, id)).length, 2)
  },
)

testOnEveryEngine(
  'a probe whose node was killed while the clock was a year ahead runs again once that is set right',
  async (store, t) => {
    const site = await insertSite(store)
    const { id } = await insertProbe(store, site.id, { interval_seconds: 300, next_run_at: NOW + 365 * DAY })
    const claim = { claimed_by: 'killed', claimed_at: NOW + 365 * DAY, due_at: NOW }
    await store.write.updateTable('probes').set(claim).where('id', '=', id).execute()
    const clock = newClock()
    const node = await openNode(t, store, clock, [typeOf(async () => OK)])
    await runDue(node)
    clock.set((await probeRow(store, id)).next_run_at)
    assert.ok(clock.now() <= NOW + MINUTE, 'soon')
    await runDue(node)
    assert.equal((await resultsOf(store, id)).length, 1)
  },
)

testOnEveryEngine('what a call makes due while late probes are brought forward stays due', async (store) => {
  const site = await insertSite(store)
  const { id } = await insertProbe(store, site.id, { interval_seconds: 300, next_run_at: NOW + DAY })
  let isCalled = false
  const stepping = steppingStore(store, async (what) => {
    if (what !== 'read' || isCalled) return
    isCalled = true
    await store.write.updateTable('probes').set({ next_run_at: NOW }).where('id', '=', id).execute()
  })
  await bringForward(stepping, NOW)
  assert.ok(isCalled)
  assert.equal((await probeRow(store, id)).next_run_at, NOW)
})

testOnEveryEngine(
  'a run asked for while the node claims the probe for its own round is not refused',
  async (store, t) => {
    const site = await insertSite(store)
    const { id } = await insertProbe(store, site.id)
    const { promise: hasTried, resolve: tried } = Promise.withResolvers<void>()
    let asked: Promise<{ status: string } | undefined> | undefined
    let reads = 0
    const stepping = steppingStore(store, async (what) => {
      if (what !== 'read') return
      if (asked !== undefined) {
        // The first is whose probe it is, the second why the claim failed.
        if (++reads === 2) tried()
      } else if ((await probeRow(store, id)).claimed_by !== null) {
        asked = node.probes.scheduler.runNow(id)
        asked.catch(tried)
        await hasTried
      }
    })
    const node = await openNode(t, stepping, newClock(), [typeOf(async () => OK)], {}, asShared(store))
    await runDue(node)
    assert.equal((await asked)?.status, 'ok')
    assert.equal((await resultsOf(store, id)).length, 1)
  },
)

testOnEveryEngine('what was claimed ahead is given back when the node stops before its time', async (store, t) => {
  const site = await insertSite(store)
  const { id } = await insertProbe(store, site.id, { next_run_at: NOW + 250 })
  // Claimed last, and nothing is awaited before the stop: runs start by the real clock, 300 ms after the claim.
  const node = await openNode(t, store, newClock(), [typeOf(async () => OK, { kind: 'data' })])
  await node.probes.scheduler.claim()
  assert.equal(node.probes.scheduler.active, 1)
  await node.probes.stop()
  const { claimed_by, next_run_at } = await probeRow(store, id)
  assert.deepEqual([claimed_by, next_run_at], [null, NOW + 250])
  assert.deepEqual(await resultsOf(store, id), [])
})

testOnEveryEngine('of many nodes that claim at once, each probe is run by one', async (store, t) => {
  const site = await insertSite(store)
  const probes = []
  for (let n = 0; n < 60; n++) probes.push(await insertProbe(store, site.id))
  const clock = newClock()
  const type = typeOf(async () => OK)
  const nodes = await Promise.all(Array.from({ length: 4 }, () => openNode(t, store, clock, [type])))
  await Promise.all(nodes.map(runDue))
  for (const { id } of probes) assert.equal((await resultsOf(store, id)).length, 1)
})

testOnEveryEngine('a probe that is running is left alone, by this node and by others', async (store, t) => {
  const site = await insertSite(store)
  const probe = await insertProbe(store, site.id)
  const clock = newClock()
  const { promise: mayEnd, resolve: end } = Promise.withResolvers<void>()
  let running = 0
  let most = 0
  const type = typeOf(async () => {
    most = Math.max(most, ++running)
    await mayEnd
    running--
    return OK
  })
  const one = await openNode(t, store, clock, [type])
  const two = await openNode(t, store, clock, [type])
  await one.probes.scheduler.claim()
  await until('it runs', () => running === 1 || undefined)
  clock.advance(5 * SECOND)
  await two.probes.scheduler.claim()
  await one.probes.scheduler.claim()
  assert.equal(two.probes.scheduler.active, 0)
  await assert.rejects(two.probes.scheduler.runNow(probe.id), { code: 'conflict' })
  // On its own node, a run by hand is the run under way.
  const joined = one.probes.scheduler.runNow(probe.id)
  end()
  await runDue(one)
  assert.equal((await joined)?.status, 'ok')
  assert.equal(most, 1)
  assert.equal((await resultsOf(store, probe.id)).length, 1)
})

testOnEveryEngine(
  "a dead node's probes are run by another, and what it writes later is not taken",
  async (store, t) => {
    const site = await insertSite(store)
    const probe = await insertProbe(store, site.id)
    const clock = newClock()
    const { promise: mayEnd, resolve: end } = Promise.withResolvers<void>()
    const dying = await openNode(t, store, clock, [
      typeOf(async () => mayEnd.then(() => ({ ...OK, status: 'critical' }))),
    ])
    await dying.probes.scheduler.claim()
    const other = await openNode(t, store, clock, [typeOf(async () => OK)])
    clock.advance(DEAD_AFTER_MS - 1)
    await other.membership.beat()
    await runDue(other)
    assert.deepEqual(await resultsOf(store, probe.id), [])
    clock.set(NOW + MINUTE)
    await runDue(other)
    assert.deepEqual(
      (await resultsOf(store, probe.id)).map(({ status }) => status),
      ['ok'],
    )
    // The dead one was only slow.
    end()
    await runDue(dying)
    assert.deepEqual(
      (await resultsOf(store, probe.id)).map(({ status }) => status),
      ['ok'],
    )
    assert.equal((await probeRow(store, probe.id)).last_status, 'ok')
  },
)

testLogic(
  'where only one process can use the store, its successor takes its claims without waiting for it to be dead',
  async (store, t) => {
    const site = await insertSite(store)
    const probe = await insertProbe(store, site.id, { interval_seconds: 10 })
    const clock = newClock()
    const hangs = Promise.withResolvers<ProbeOutcome>()
    const killed = await openNode(t, store, clock, [typeOf(() => hangs.promise)])
    await killed.probes.scheduler.claim()
    clock.advance(10 * SECOND)
    const next = await openNode(t, store, clock, [typeOf(async () => OK)], {}, { ...asShared(store), isShared: false })
    await runDue(next)
    assert.deepEqual(
      (await resultsOf(store, probe.id)).map(({ status }) => status),
      ['ok'],
    )
    hangs.resolve(OK)
  },
)

testOnEveryEngine('a claim that this node knows nothing of is given back', async (store, t) => {
  const site = await insertSite(store)
  const node = await openNode(t, store, newClock(), [typeOf(async () => OK)])
  const probe = await insertProbe(store, site.id, { claimed_by: node.membership.nodeId, claimed_at: NOW - 1 })
  await runDue(node)
  assert.equal((await resultsOf(store, probe.id)).length, 1)
})

testLogic(
  'data probes run four at a time, and probes that hang on the network do not hold them up',
  async (store, t) => {
    const site = await insertSite(store)
    for (let n = 0; n < 10; n++) {
      await insertProbe(store, site.id, { probe_type: 'data' })
      await insertProbe(store, site.id, { probe_type: 'wire', next_run_at: NOW - MINUTE })
    }
    const { promise: mayEnd, resolve: end } = Promise.withResolvers<void>()
    const counter = () => {
      const counts = { running: 0, most: 0, ended: 0 }
      const run = async () => {
        counts.most = Math.max(counts.most, ++counts.running)
        await new Promise((resolve) => setImmediate(resolve))
        counts.running--
        counts.ended++
        return OK
      }
      return { counts, run }
    }
    const data = counter()
    const types = [
      typeOf(data.run, { name: 'data', kind: 'data' }),
      typeOf(async () => mayEnd.then(() => OK), { name: 'wire', kind: 'wire' }),
    ]
    const node = await openNode(t, store, newClock(), types)
    await node.probes.scheduler.claim()
    await until('all data probes ran', () => data.counts.ended === 10 || undefined)
    assert.equal(data.counts.most, 4)
    end()
    await runDue(node)
  },
)

testLogic('the watch sees how late a run begins, and how each ended', async (store, t) => {
  const site = await insertSite(store)
  await insertProbe(store, site.id, { next_run_at: NOW - 250 })
  const node = await openNode(t, store, newClock(), [typeOf(async () => OK)])
  const seen: unknown[] = []
  node.probes.scheduler.watch({
    onStart: (lagMs) => seen.push(lagMs),
    onResult: (type, status) => seen.push([type, status]),
  })
  await runDue(node)
  assert.deepEqual(seen, [250, ['fake', 'ok']])
})

testLogic('a run that found nothing to judge is no ok to the watch', async (store, t) => {
  const site = await insertSite(store)
  await insertProbe(store, site.id)
  const node = await openNode(t, store, newClock(), [typeOf(async () => ({ ...OK, reason: 'no_data' }))])
  const seen: string[] = []
  node.probes.scheduler.watch({ onResult: (_type, outcome) => seen.push(outcome) })
  await runDue(node)
  assert.deepEqual(seen, ['unjudged'])
})

testLogic("on a site's first day a type that must not ask more often does not", async (store, t) => {
  const site = await insertSite(store, { created_at: NOW - MINUTE })
  const run = async (): Promise<ProbeOutcome> => ({ ...OK, reason: 'no_data' })
  const types = [typeOf(run), typeOf(run, { name: 'shy', minIntervalSeconds: 3_600 })]
  const [often, shy] = await Promise.all(
    types.map(({ name }) => insertProbe(store, site.id, { probe_type: name, interval_seconds: 21_600 })),
  )
  await runDue(await openNode(t, store, newClock(), types))
  const due = async (probe = often) => (await probeRow(store, probe?.id ?? '')).next_run_at
  assert.equal(await due(), nextRunAt(often?.id ?? '', 60, NOW))
  assert.equal(await due(shy), nextRunAt(shy?.id ?? '', 3_600, NOW))
})

testLogic('a stop lets runs end for a moment, cancels the rest and gives its claims back', async (store, t) => {
  const site = await insertSite(store)
  const quick = await insertProbe(store, site.id, { probe_type: 'quick' })
  const slow = await insertProbe(store, site.id, { probe_type: 'slow' })
  const { promise: mayEnd, resolve: end } = Promise.withResolvers<void>()
  let wasAborted = false
  const types = [
    typeOf(async () => mayEnd.then(() => OK), { name: 'quick' }),
    typeOf(
      ({ signal }) =>
        new Promise((_, reject) => {
          signal.addEventListener('abort', () => {
            wasAborted = true
            reject(signal.reason)
          })
        }),
      { name: 'slow' },
    ),
  ]
  const node = await openNode(t, store, newClock(), types)
  await node.probes.scheduler.claim()
  const stopped = node.probes.stop(100)
  end()
  await stopped
  assert.equal(wasAborted, true)
  assert.equal((await resultsOf(store, quick.id)).length, 1)
  assert.deepEqual(await resultsOf(store, slow.id), [])
  const row = await probeRow(store, slow.id)
  assert.deepEqual([row.claimed_by, row.next_run_at], [null, NOW])
})

testOnEveryEngine('a probe deleted or given another interval during its run', async (store, t) => {
  const site = await insertSite(store)
  const deleted = await insertProbe(store, site.id)
  const changed = await insertProbe(store, site.id, { interval_seconds: 86_400 })
  const { promise: mayEnd, resolve: end } = Promise.withResolvers<void>()
  const node = await openNode(t, store, newClock(), [typeOf(async () => mayEnd.then(() => OK))])
  await node.probes.scheduler.claim()
  await store.write.deleteFrom('probes').where('id', '=', deleted.id).execute()
  await store.write
    .updateTable('probes')
    .set({ interval_seconds: 30, next_run_at: NOW + 7 })
    .where('id', '=', changed.id)
    .execute()
  end()
  await runDue(node)
  assert.deepEqual(await resultsOf(store, deleted.id), [])
  assert.equal((await probeRow(store, changed.id)).next_run_at, NOW + 7)
  assert.deepEqual(node.errors, [])
})

testOnEveryEngine(
  'a probe moves on before it runs, and rests longer each time that its node dies',
  async (store, t) => {
    const site = await insertSite(store)
    const probe = await insertProbe(store, site.id, { interval_seconds: 3_600, next_run_at: NOW - 500 * MINUTE })
    const clock = newClock()
    const { promise: never } = Promise.withResolvers<ProbeOutcome>()
    const rests: number[] = []
    for (let deaths = 0; deaths < 4; deaths++) {
      const dying = await openNode(t, store, clock, [typeOf(() => never)])
      await dying.probes.scheduler.claim()
      const row = await probeRow(store, probe.id)
      assert.equal(row.claimed_by, dying.membership.nodeId)
      rests.push(row.next_run_at - clock.now())
      // No other takes it before, however long the node is dead.
      clock.set(row.next_run_at - SECOND)
      const other = await openNode(t, store, clock, [typeOf(async () => OK)])
      await runDue(other)
      assert.deepEqual(await resultsOf(store, probe.id), [])
      clock.set(row.next_run_at)
    }
    assert.deepEqual(
      rests,
      [1, 4, 9, 16].map((minutes) => minutes * MINUTE),
    )

    const node = await openNode(t, store, clock, [typeOf(async () => OK)])
    await runDue(node)
    assert.equal((await resultsOf(store, probe.id)).length, 1)
    assert.match(node.errors.join(), /its node stopped during its last 4 runs/)
    const { next_run_at: next } = await probeRow(store, probe.id)
    assert.ok(next > clock.now() && next <= clock.now() + 60 * MINUTE)
    clock.set(next)
    const dying = await openNode(t, store, clock, [typeOf(() => never)])
    await dying.probes.scheduler.claim()
    assert.equal((await probeRow(store, probe.id)).next_run_at - clock.now(), MINUTE)
  },
)

testLogic('a run that is cancelled is due as it was', async (store, t) => {
  const site = await insertSite(store)
  const probe = await insertProbe(store, site.id, { next_run_at: NOW - SECOND })
  const { promise: never } = Promise.withResolvers<ProbeOutcome>()
  const node = await openNode(t, store, newClock(), [typeOf(() => never)])
  await node.probes.scheduler.claim()
  assert.ok((await probeRow(store, probe.id)).next_run_at > NOW)
  await node.probes.stop(0)
  const row = await probeRow(store, probe.id)
  assert.deepEqual([row.claimed_by, row.next_run_at, row.due_at], [null, NOW - SECOND, null])
})
