import assert from 'node:assert/strict'
import { DAY, HOUR, isoTime, MINUTE } from '../../../src/lib/index.ts'
import { reconciliation } from '../../../src/probes/types/reconciliation.ts'
import type { SiteRow, Store } from '../../../src/store/index.ts'
import { NOW } from '../../../testkit/clock.ts'
import { eventPayload } from '../../../testkit/deltas.ts'
import { testLogic, testOnEveryEngine } from '../../../testkit/engines.ts'
import { resultOf, siteWith } from './data-support.ts'

/** Midnight in UTC, which the sites of these tests live by. */
const TODAY = NOW - (NOW % DAY)

const CONFIG = { source: 'shop', event: 'purchase' }

/** Purchases in each hour of the last days, by the number of each. */
const purchases = (days: number, ofHour: (hour: number) => number) =>
  Array.from({ length: days * 24 }, (_, n) => TODAY - days * DAY + n * HOUR).flatMap((hour) =>
    Array.from({ length: ofHour(hour) }, (_, n) => eventPayload({ timestamp_ms: hour + n * MINUTE })),
  )

async function refer(store: Store, site: SiteRow, days: number, ofHour: (hour: number) => number): Promise<void> {
  const rows = Array.from({ length: days * 24 }, (_, n) => TODAY - days * DAY + n * HOUR).map((bucket) => ({
    site_no: site.site_no,
    source: 'shop',
    event_name: 'purchase',
    bucket,
    total: ofHour(bucket),
  }))
  await store.write.insertInto('reference_counts').values(rows).execute()
}

testLogic(
  'reconciliation: events that the shop has and we have not are a warning with day and numbers',
  async (store, t) => {
    // Since yesterday a fifth of them is lost.
    const site = await siteWith(
      store,
      purchases(3, (hour) => (hour >= TODAY - DAY ? 8 : 10)),
      { timezone: 'UTC' },
    )
    await refer(store, site, 3, () => 10)
    const { status, message, details } = await resultOf(t, store, site, reconciliation, CONFIG)
    assert.deepEqual(
      [status, message],
      [
        'warning',
        '192 of 240 “purchase” that “shop” counted on 2026-11-19 were counted here, 80 %; at least 90 % should be',
      ],
    )
    const [finding] = details.findings
    assert.deepEqual([finding?.since, finding?.evidence['2026-11-19']], [isoTime(TODAY - DAY), '192 of 240'])
    const within = await resultOf(t, store, site, reconciliation, { ...CONFIG, min_captured_percent: 75 })
    assert.equal(within.status, 'ok')
  },
)

testLogic('reconciliation: without counts of the source, or with old ones, the check cannot run', async (store, t) => {
  const site = await siteWith(
    store,
    purchases(2, () => 1),
    { timezone: 'UTC' },
  )
  const run = (config: object = {}) => resultOf(t, store, site, reconciliation, { ...CONFIG, ...config })
  const none = await run()
  assert.deepEqual([none.status, none.details.reason], ['error', 'no_reference'])
  await refer(store, site, 2, () => 1)
  // The last hour ended at midnight, ten hours ago.
  const stale = await run({ max_age_hours: 9 })
  assert.deepEqual([stale.status, stale.details.reason], ['error', 'reference_stale'])
  assert.match(stale.message, /“shop” has sent no count of “purchase” of the last 10 h/)
  assert.equal((await run({ max_age_hours: 10 })).status, 'ok')
  assert.equal((await run({ event: 'refund' })).status, 'error')
})

testLogic('reconciliation: events that are counted twice are a warning', async (store, t) => {
  const site = await siteWith(
    store,
    purchases(1, () => 10),
    { timezone: 'UTC' },
  )
  await refer(store, site, 1, () => 5)
  const { status, message } = await resultOf(t, store, site, reconciliation, CONFIG)
  assert.equal(status, 'warning')
  assert.match(message, /^240 of 120 .* 200 %: more than it has, so some are counted twice here, or missing there/)
})

testOnEveryEngine('reconciliation: an event of another name is found to be one, and is critical', async (store, t) => {
  const site = await siteWith(
    store,
    purchases(1, () => 10),
    { timezone: 'UTC' },
  )
  await refer(store, site, 1, () => 10)
  await store.write.updateTable('reference_counts').set({ event_name: 'Purchase' }).execute()
  const { status, message } = await resultOf(t, store, site, reconciliation, { ...CONFIG, event: 'Purchase' })
  assert.equal(status, 'critical')
  assert.match(message, /No event “Purchase” arrived in 7 days: is that its name here\?$/)
})

testOnEveryEngine(
  'reconciliation: few orders are not judged, and hours that the source did not report are not missed',
  async (store, t) => {
    const site = await siteWith(
      store,
      purchases(3, () => 0),
      { timezone: 'UTC' },
    )
    await refer(store, site, 3, (hour) => (hour === TODAY - DAY ? 2 : 0))
    const few = await resultOf(t, store, site, reconciliation, CONFIG)
    assert.deepEqual([few.status, few.reason], ['ok', 'learning'])
    assert.equal(few.message, 'Learning: “shop” counted 2 “purchase” in 3 days, too few to judge')
    await store.write
      .deleteFrom('reference_counts')
      .where('bucket', '<', TODAY - DAY)
      .execute()
    const { message } = await resultOf(t, store, site, reconciliation, CONFIG)
    assert.equal(message, 'Learning: “shop” counted 2 “purchase” in 1 day, too few to judge')
    // Today is not over.
    await store.write.deleteFrom('reference_counts').execute()
    await store.write
      .insertInto('reference_counts')
      .values({ site_no: site.site_no, source: 'shop', event_name: 'purchase', bucket: TODAY, total: 100 })
      .execute()
    const today = await resultOf(t, store, site, reconciliation, CONFIG)
    assert.deepEqual([today.status, today.reason], ['ok', 'no_data'])
  },
)

testLogic('reconciliation: hours in which this service was down are not held against the site', async (store, t) => {
  const site = await siteWith(
    store,
    purchases(1, (hour) => (hour < TODAY - 12 * HOUR ? 10 : 0)),
    { timezone: 'UTC' },
  )
  await refer(store, site, 1, () => 10)
  assert.equal((await resultOf(t, store, site, reconciliation, CONFIG)).status, 'warning')
  await store.write
    .insertInto('outages')
    .values({ began_at: TODAY - 12 * HOUR, ended_at: TODAY })
    .execute()
  assert.equal((await resultOf(t, store, site, reconciliation, CONFIG)).status, 'ok')
})
