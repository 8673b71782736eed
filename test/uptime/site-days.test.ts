import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { type Expiry, Leases } from '../../src/cluster/index.ts'
import { DAY, HOUR, MINUTE, newId, newOrderedId, SECOND } from '../../src/lib/index.ts'
import type { SiteRow, Store } from '../../src/store/index.ts'
import { readEvidence, timesOf } from '../../src/uptime/evidence.ts'
import { readSiteDays } from '../../src/uptime/read-days.ts'
import { Uptime } from '../../src/uptime/uptime.ts'
import { insertAlert } from '../../testkit/alerts.ts'
import { TestClock } from '../../testkit/clock.ts'
import { eventPayload } from '../../testkit/deltas.ts'
import { testLogic, testOnEveryEngine } from '../../testkit/engines.ts'
import { insertProbe, newResultRow } from '../../testkit/probes.ts'
import { insertPause, insertSite } from '../../testkit/sites.ts'
import { count, RETENTION } from '../analytics/support.ts'
import { joinNode } from '../cluster/support.ts'

/** Berlin is an hour ahead: the day lasts from 23:00 to 23:00 UTC. */
const MIDNIGHT = Date.parse('2026-11-18T23:00:00Z')
const END = MIDNIGHT + DAY
/** Six hours after its end. */
const SETTLED = END + 6 * HOUR

async function openUptime(t: TestContext, store: Store, now: number, expiry?: Expiry) {
  const clock = new TestClock(now)
  const { membership, errors } = await joinNode(t, store, clock)
  const leases = new Leases({ store, clock, membership, ...(expiry === undefined ? {} : { expiry }) })
  const uptime = new Uptime({
    store,
    clock,
    retention: RETENTION,
    leases,
    onError: (error) => errors.push(error.message),
  })
  t.after(() => uptime.stop())
  const tick = async () => {
    await membership.beat()
    for (const loop of uptime.loops) await loop.tick()
    assert.deepEqual(errors, [])
  }
  return { uptime, clock, tick }
}

const berlin = (store: Store, over: Partial<SiteRow> = {}) =>
  insertSite(store, { timezone: 'Europe/Berlin', created_at: MIDNIGHT, ...over })

/** Results of a probe of the site every 5 minutes. */
async function run(
  store: Store,
  site: SiteRow,
  from: number,
  to: number,
  over: { status?: string; reason?: string; maintenance_id?: string } = {},
): Promise<void> {
  const probe = await insertProbe(store, site.id, { interval_seconds: 300, probe_type: 'data_freshness' })
  const rows = []
  for (let at = from; at < to; at += 5 * MINUTE) {
    rows.push(newResultRow(probe.id, at, over))
  }
  for (let n = 0; n < rows.length; n += 500) {
    await store.write
      .insertInto('probe_results')
      .values(rows.slice(n, n + 500))
      .execute()
  }
}

const rowsOf = async (store: Store) => {
  const rows = await store.write.selectFrom('site_days').selectAll().orderBy('day').execute()
  return rows.map(({ day, ok_ms, warning_ms, critical_ms, maintenance_ms, unknown_ms, executions, successes }) => ({
    day,
    minutes: [ok_ms, warning_ms, critical_ms, maintenance_ms, unknown_ms].map((ms) => Math.round(ms / MINUTE)),
    executions,
    successes,
  }))
}

testOnEveryEngine('a day is written once, when it is settled, from alerts, results and counts', async (store, t) => {
  const site = await berlin(store)
  await run(store, site, MIDNIGHT, SETTLED)
  const half = { confirmed_at: 1, state: 'resolved' }
  const escalating = await insertAlert(store, site, MIDNIGHT + 2 * HOUR, { ...half, resolved_at: MIDNIGHT + 4 * HOUR })
  for (const [kind, at] of [
    ['escalated', MIDNIGHT + 3 * HOUR],
    ['acknowledged', MIDNIGHT + 3.5 * HOUR],
  ] as const) {
    const event = { alert_id: escalating.id, id: newOrderedId(at), at, kind, actor: null, text: '' }
    await store.write.insertInto('alert_events').values(event).execute()
  }
  await insertAlert(store, site, MIDNIGHT + 6 * HOUR, {
    ...half,
    confirmed_at: null,
    resolved_at: MIDNIGHT + 7 * HOUR,
  })
  await insertAlert(store, site, MIDNIGHT + 8 * HOUR, {
    ...half,
    probe_type: 'error_budget',
    resolved_at: MIDNIGHT + 9 * HOUR,
  })
  await count(store, site, [
    eventPayload({
      timestamp_ms: MIDNIGHT + HOUR,
      tags: [
        { id: '1', status: 'success' },
        { id: '2', status: 'failure' },
      ],
    }),
    eventPayload({ timestamp_ms: END + HOUR, tags: [{ id: '1', status: 'failure' }] }),
  ])
  const { clock, tick } = await openUptime(t, store, SETTLED - SECOND)
  await tick()
  assert.deepEqual(await rowsOf(store), [])
  clock.advance(SECOND)
  await tick()
  const written = [{ day: '2026-11-19', minutes: [22 * 60, 60, 60, 0, 0], executions: 2, successes: 1 }]
  assert.deepEqual(await rowsOf(store), written)
  await store.write.deleteFrom('probe_results').execute()
  await tick()
  assert.deepEqual(await rowsOf(store), written, 'it is not written again')
  const shown = await readSiteDays(store.read, [{ ...site, siteNo: site.site_no, lastEventAt: null }], SETTLED)
  const [day] = shown.get(site.id)?.slice(-2) ?? []
  assert.deepEqual([day?.isFinal, day?.times.ok, day?.executions], [true, 22 * HOUR, 2], 'it is read as it was written')
  clock.advance(DAY)
  await tick()
  assert.deepEqual(
    (await rowsOf(store)).map(({ day }) => day),
    ['2026-11-19', '2026-11-20'],
    'the next day follows',
  )
})

testOnEveryEngine(
  'what a deleted probe saw until then is written of the days that were open, and nothing after that',
  async (store, t) => {
    const site = await berlin(store)
    await run(store, site, MIDNIGHT, MIDNIGHT + 12 * HOUR)
    const { id, site_id, probe_type, interval_seconds } = await store.write
      .deleteFrom('probes')
      .returningAll()
      .executeTakeFirstOrThrow()
    const removed = { id, site_id, probe_type, interval_seconds, removed_at: MIDNIGHT + 12 * HOUR }
    await store.write.insertInto('removed_probes').values(removed).execute()
    const { tick } = await openUptime(t, store, SETTLED)
    await tick()
    assert.deepEqual(
      (await rowsOf(store)).map(({ minutes }) => minutes),
      [[12 * 60, 0, 0, 0, 12 * 60]],
    )
  },
)

testOnEveryEngine(
  'days that ended while the service was down are written when it is back, as far as they are known',
  async (store, t) => {
    const site = await berlin(store)
    await run(store, site, MIDNIGHT, MIDNIGHT + 12 * HOUR)
    const back = END + 2 * DAY + 10 * HOUR
    await run(store, site, back, back + HOUR)
    await store.write
      .insertInto('outages')
      .values({ began_at: MIDNIGHT + 11 * HOUR, ended_at: back })
      .execute()
    const { tick } = await openUptime(t, store, back + MINUTE)
    await tick()
    assert.deepEqual(
      (await rowsOf(store)).map(({ day, minutes }) => [day, ...minutes]),
      [
        ['2026-11-19', 11 * 60, 0, 0, 0, 13 * 60],
        ['2026-11-20', 0, 0, 0, 0, 24 * 60],
        ['2026-11-21', 0, 0, 0, 0, 24 * 60],
      ],
    )
  },
)

testLogic('results that judged nothing, checks that cannot run and maintenance are not green', async (store, t) => {
  const site = await berlin(store)
  await run(store, site, MIDNIGHT, MIDNIGHT + 6 * HOUR)
  await run(store, site, MIDNIGHT + 6 * HOUR, MIDNIGHT + 12 * HOUR, { reason: 'no_data' })
  await run(store, site, MIDNIGHT + 12 * HOUR, MIDNIGHT + 18 * HOUR, { status: 'error' })
  await run(store, site, MIDNIGHT + 18 * HOUR, MIDNIGHT + 21 * HOUR, { maintenance_id: 'planned' })
  const [{ id: probe_id } = { id: '' }] = await store.read.selectFrom('probes').select('id').execute()
  const [id, created_at] = [newId(), MIDNIGHT]
  const work = { id, probe_id, title: 'Of a probe', kind: 'once', is_active: 1, created_at, created_by: 'test' }
  await store.write.insertInto('maintenance').values(work).execute()
  await run(store, site, MIDNIGHT + 21 * HOUR, END, { maintenance_id: id })
  const { tick } = await openUptime(t, store, SETTLED)
  await tick()
  const [day] = await rowsOf(store)
  // A result stands until the one after the next was due.
  assert.deepEqual(day?.minutes, [9 * 60 + 10, 0, 0, 3 * 60, 12 * 60 - 10])
})

testOnEveryEngine(
  'maintenance of the site is over with the first run after it, and that of one probe is none of the site',
  async (store) => {
    const site = await berlin(store)
    const [hourly, often] = [
      await insertProbe(store, site.id, { interval_seconds: 3_600 }),
      await insertProbe(store, site.id, { interval_seconds: 900, probe_type: 'data_freshness' }),
    ]
    const gone = newId()
    const after = JSON.stringify({ probe_id: hourly.id, title: 'Deleted' })
    const created = { action: 'maintenance.create', entity: 'maintenance', entity_id: gone, before: null, after }
    await store.write
      .insertInto('audit_log')
      .values({ ...created, at: MIDNIGHT, actor: 'test', client_id: null })
      .execute()
    const results = [newResultRow(hourly.id, MIDNIGHT, { maintenance_id: 'planned' })]
    for (let at = MIDNIGHT + 10 * MINUTE; at < MIDNIGHT + 2 * HOUR; at += 15 * MINUTE)
      results.push(newResultRow(often.id, at))
    results.push(newResultRow(hourly.id, MIDNIGHT + HOUR, { maintenance_id: gone }))
    await store.write.insertInto('probe_results').values(results).execute()
    const evidence = await readEvidence(store.read, site, { from: MIDNIGHT, to: MIDNIGHT + 2 * HOUR })
    const { maintenance, ok } = timesOf({ from: MIDNIGHT, to: MIDNIGHT + 2 * HOUR }, evidence, true)
    assert.deepEqual([maintenance / MINUTE, ok / MINUTE], [10, 110])
  },
)

testOnEveryEngine('a result from before a pause says nothing of the pause', async (store) => {
  const site = await berlin(store)
  const hourly = await insertProbe(store, site.id, { interval_seconds: 3_600, probe_type: 'data_freshness' })
  const results = [0, 4].map((hour) => newResultRow(hourly.id, MIDNIGHT + hour * HOUR))
  await store.write.insertInto('probe_results').values(results).execute()
  await insertPause(store, site, MIDNIGHT + HOUR, MIDNIGHT + 4 * HOUR)
  const range = { from: MIDNIGHT, to: MIDNIGHT + 6 * HOUR }
  const { ok, unknown } = timesOf(range, await readEvidence(store.read, site, range), true)
  assert.deepEqual([ok / HOUR, unknown / HOUR], [3, 3])
})

testOnEveryEngine('a site that only answers and never sends is not green', async (store, t) => {
  const site = await berlin(store)
  await run(store, site, MIDNIGHT, END)
  await store.write.updateTable('probes').set({ probe_type: 'http_health' }).execute()
  const { tick } = await openUptime(t, store, SETTLED)
  await tick()
  assert.deepEqual((await rowsOf(store))[0]?.minutes, [0, 0, 0, 0, 24 * 60])
})

testLogic('today is read live, and days of a site that was not there are unknown', async (store) => {
  const site = await berlin(store)
  await run(store, site, MIDNIGHT, MIDNIGHT + 12 * HOUR)
  const now = MIDNIGHT + 12 * HOUR
  const days =
    (await readSiteDays(store.read, [{ ...site, siteNo: site.site_no, lastEventAt: now }], now)).get(site.id) ?? []
  assert.equal(days.length, 90)
  assert.deepEqual(days.at(-1)?.times, { ok: 12 * HOUR, warning: 0, critical: 0, maintenance: 0, unknown: 0 })
  assert.deepEqual(days.at(-2)?.times, { ok: 0, warning: 0, critical: 0, maintenance: 0, unknown: DAY })
})

testLogic('days are read live for as long as a doubt of the clock keeps them from being written', async (store) => {
  const site = await berlin(store)
  await run(store, site, MIDNIGHT, MIDNIGHT + 12 * HOUR)
  // The doubt began just before the day was due, and lasts three days.
  const now = SETTLED + 3 * DAY - SECOND
  const watched = { ...site, siteNo: site.site_no, lastEventAt: null }
  const days = (await readSiteDays(store.read, [watched], now)).get(site.id) ?? []
  assert.equal(days.find(({ from }) => from === MIDNIGHT)?.times.ok, 12 * HOUR + 10 * MINUTE)
})

testOnEveryEngine('a day that is over is not green for what came after it', async (store) => {
  const site = await berlin(store)
  await run(store, site, MIDNIGHT, END + HOUR)
  await store.write.updateTable('probes').set({ probe_type: 'http_health' }).execute()
  const hoursOk = async (now: number) => {
    const watched = { ...site, siteNo: site.site_no, lastEventAt: END }
    const days = (await readSiteDays(store.read, [watched], now)).get(site.id) ?? []
    return days.slice(-2).map(({ times }) => times.ok / HOUR)
  }
  await count(store, site, [eventPayload({ timestamp_ms: MIDNIGHT - MINUTE }), eventPayload({ timestamp_ms: END })])
  await count(store, await berlin(store), [eventPayload({ timestamp_ms: MIDNIGHT + HOUR })])
  assert.deepEqual(await hoursOk(END + HOUR), [0, 1], 'another site sent that day')
  await count(store, site, [eventPayload({ timestamp_ms: MIDNIGHT })])
  assert.deepEqual(await hoursOk(END + HOUR), [24, 1])
})

testLogic('today is green only for a site that sent something in the last 24 hours', async (store) => {
  const site = await berlin(store)
  await run(store, site, END, END + HOUR)
  await store.write.updateTable('probes').set({ probe_type: 'http_health' }).execute()
  const now = END + HOUR
  for (const [lastEventAt, hoursOk] of [
    [END + MINUTE, 1],
    [now - DAY, 1],
    [now - DAY - 1, 0],
    [null, 0],
  ] as const) {
    const days = (await readSiteDays(store.read, [{ ...site, siteNo: site.site_no, lastEventAt }], now)).get(site.id)
    assert.equal((days?.at(-1)?.times.ok ?? 0) / HOUR, hoursOk, String(lastEventAt))
  }
})

testLogic('days go with their site and when they are no longer shown', async (store, t) => {
  const site = await berlin(store, { created_at: END - 200 * DAY })
  await berlin(store)
  const { uptime, clock, tick } = await openUptime(t, store, SETTLED)
  await tick()
  assert.equal((await rowsOf(store)).length, 89 + 1, 'today is the 90th, and the other site has one day')
  clock.advance(30 * DAY)
  await tick()
  assert.ok((await rowsOf(store)).length <= 92 + 31)
  await store.write.transaction().execute(async (trx) => uptime.deletionHooks.removeOfSites(trx, [site]))
  assert.equal((await rowsOf(store)).length, 31, 'those of the other site stay')
})

testOnEveryEngine('nothing is written while the clock is in doubt', async (store, t) => {
  await berlin(store)
  const { tick } = await openUptime(t, store, SETTLED + 30 * DAY, { expiryTime: () => null })
  await tick()
  assert.deepEqual(await rowsOf(store), [])
})
