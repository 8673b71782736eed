import assert from 'node:assert/strict'
import type { Payload } from '../../../src/journal/payload.ts'
import { DAY, HOUR, isoTime, MINUTE, SECOND } from '../../../src/lib/index.ts'
import { readEventRepeats } from '../../../src/probes/counts/event-repeats.ts'
import { dataFreshness } from '../../../src/probes/types/data-freshness.ts'
import { dataVolume } from '../../../src/probes/types/data-volume.ts'
import { insertAlert } from '../../../testkit/alerts.ts'
import { NOW } from '../../../testkit/clock.ts'
import { deltaOf, eventPayload, writeJournal } from '../../../testkit/deltas.ts'
import { testLogic, testOnEveryEngine } from '../../../testkit/engines.ts'
import { batch } from '../../../testkit/payloads.ts'
import { every, resultOf, SLOT, siteWith } from './data-support.ts'
import { PROBE_ID, runType } from './run-type.ts'

/** Five minutes of a shop, `share` of what is usual. */
const five = (time: number, share = 1, purchases = 20): Payload =>
  batch(time, {
    total_events: 100 * share,
    event_counts: { page_view: (100 - purchases) * share, purchase: purchases * share },
  })
/** An hour of it. */
const hour = (time: number): Payload => five(time, 12)

/** More than a week of it, up to yesterday. */
const EARLIER = every(HOUR, NOW - 9 * DAY, NOW - DAY + HOUR).map(hour)
const recent = (of: (time: number) => Payload[]) => every(SLOT, NOW - DAY + HOUR, NOW).flatMap(of)

testLogic('data_volume: what comes as in the weeks before is fine', async (store, t) => {
  const site = await siteWith(store, [...EARLIER, ...recent((time) => [five(time)])])
  const { status, message, reason, details } = await resultOf(t, store, site, dataVolume)
  assert.deepEqual([status, reason], ['ok', null])
  assert.match(message, /^as usual: \d+ events in \d+ min, usually \d+$/)
  assert.equal(details.judged, 3)
})

testLogic('data_volume: what broke off is no holiday in later runs, however it looks by then', async (store, t) => {
  const weeks = every(HOUR, NOW - 22 * DAY, NOW - DAY + HOUR).map(hour)
  const run = async (share: (time: number) => number, memory = {}) => {
    const site = await siteWith(store, [...weeks, ...recent((time) => [five(time, Math.round(20 * share(time)) / 20)])])
    return runType(t, dataVolume, { site, store, memory })
  }
  const broken = await run((time) => (time < NOW - HOUR ? 1 : 0.1))
  assert.deepEqual([broken.status, broken.memory?.broke_off_at], ['warning', NOW])
  const sinks = (time: number) => 1 - 0.6 * Math.min(1, Math.max(0, (time - NOW + 6 * HOUR) / (4 * HOUR)))
  const holiday = await run(sinks)
  assert.match(holiday.message, /as on a holiday/)
  assert.deepEqual([holiday.status, holiday.memory], ['ok', {}])
  assert.equal((await run(sinks, broken.memory)).status, 'warning')
  // The end of that fall is the end of what it says.
  assert.equal((await run(sinks, { broke_off_at: NOW - 12 * HOUR })).status, 'ok')
})

testLogic('data_volume: a fall that was found lasts while nothing shows that it is over', async (store, t) => {
  const weeks = every(HOUR, NOW - 22 * DAY, NOW - DAY + HOUR).map(hour)
  const run = async (share: number, memory = {}, config = {}, isFirst = false) => {
    const fell = NOW - 3 * HOUR
    const site = await siteWith(store, [...weeks, ...recent((time) => [five(time, time < fell ? 1 : share)])])
    return runType(t, dataVolume, { site, store, memory, config, isFirst })
  }
  const found = await run(0.4)
  assert.equal(found.status, 'warning')
  const later = await run(0.7, found.memory)
  assert.equal(later.status, 'warning', later.message)
  assert.match(later.message, /^30 % below normal: .*; the counts do not show yet that the fall is over$/)
  assert.deepEqual(later.memory, found.memory)
  assert.equal((await run(0.7)).status, 'ok', 'without it there is none')
  assert.equal((await run(0.7, found.memory, { weeks: 3 })).status, 'ok', 'found with other settings')
  assert.equal((await run(0.7, found.memory, {}, true)).status, 'ok', 'found before a pause')
  const resolved = { state: 'resolved', resolution: 'manual', resolved_at: NOW - HOUR }
  const site = await siteWith(store, [])
  await insertAlert(store, site, NOW - 2 * HOUR, { ...resolved, probe_id: PROBE_ID, subject: 'event:"purchase"' })
  assert.equal((await run(0.7, found.memory)).status, 'warning', 'another alert was resolved')
  await insertAlert(store, site, NOW - 2 * HOUR, { ...resolved, probe_id: PROBE_ID, subject: 'target' })
  assert.equal((await run(0.7, found.memory)).status, 'ok', 'its alert was resolved by hand')
  const over = await run(1, found.memory)
  assert.deepEqual([over.status, over.memory?.falls], ['ok', undefined])
})

testLogic('data_volume: no event at all is critical, with the time since when', async (store, t) => {
  const silentFrom = NOW - 30 * MINUTE
  const site = await siteWith(store, [...EARLIER, ...recent((time) => (time < silentFrom ? [five(time)] : []))])
  const { status, message, details } = await resultOf(t, store, site, dataVolume)
  assert.equal(status, 'critical')
  assert.match(message, /^no events for /)
  assert.equal(details.findings[0]?.since, isoTime(silentFrom))
})

testLogic(
  'data_volume: where events come with times of hours ago, it says that the sender is late',
  async (store, t) => {
    const site = await siteWith(store, [...EARLIER, ...recent((time) => (time < NOW - 3 * HOUR ? [five(time)] : []))])
    const lastCame = (at: number) => store.write.updateTable('site_containers').set({ last_seen_at: at }).execute()
    await lastCame(NOW - 3 * HOUR)
    const silent = await resultOf(t, store, site, dataVolume)
    assert.match(silent.message, /^no events for 3 h; usually [\d,]+ in that time$/)
    await lastCame(NOW - MINUTE)
    const behind = await resultOf(t, store, site, dataVolume)
    assert.equal(behind.status, 'critical')
    assert.match(behind.message, /; but one arrived 1 min ago: the sender's clock is behind, or it sends late$/)
    // Our own clock was ahead, and was set back.
    await lastCame(NOW + HOUR)
    assert.equal((await resultOf(t, store, site, dataVolume)).message, silent.message)
  },
)

testLogic(
  'data_volume: of a silence that has just begun the last event says nothing about a clock',
  async (store, t) => {
    const minutes = every(MINUTE, NOW - 2 * DAY, NOW - 4 * MINUTE).map((time) =>
      batch(time, { total_events: 2_000, event_counts: { page_view: 2_000 } }),
    )
    const site = await siteWith(store, minutes)
    await store.write
      .updateTable('site_containers')
      .set({ last_seen_at: NOW - 4 * MINUTE + 5_000 })
      .execute()
    const { message } = await resultOf(t, store, site, dataVolume)
    assert.match(message, /^no events for \d min; usually [\d,]+ in that time$/)
  },
)

testLogic('data_volume: a sudden fall to a third is a warning', async (store, t) => {
  const site = await siteWith(store, [...EARLIER, ...recent((time) => [five(time, time < NOW - HOUR ? 1 : 0.3)])])
  const { status, details } = await resultOf(t, store, site, dataVolume)
  assert.equal(status, 'warning')
  assert.deepEqual(details.findings[0]?.subject, {})
  assert.equal(details.findings[0]?.since, isoTime(NOW - HOUR))
})

testLogic('data_volume: an event that stopped on a busy site is named', async (store, t) => {
  const site = await siteWith(store, [...EARLIER, ...recent((time) => [five(time, 1, time < NOW - HOUR ? 20 : 0)])])
  const { status, message, details } = await resultOf(t, store, site, dataVolume)
  assert.equal(status, 'critical')
  assert.match(message, /^no “purchase” events for /)
  assert.deepEqual(details.findings[0]?.subject, { event_name: 'purchase' })
})

testLogic('data_volume: three times as much is a warning only where that is asked for', async (store, t) => {
  const site = await siteWith(store, [...EARLIER, ...recent((time) => [five(time, time < NOW - HOUR ? 1 : 3)])])
  const statusWith = async (config: object) => (await resultOf(t, store, site, dataVolume, config)).status
  assert.deepEqual([await statusWith({}), await statusWith({ direction: 'both' })], ['ok', 'warning'])
})

/** Twenty minutes of a quiet shop; an order is sent to us `orders` times. */
const twenty = (time: number, orders: number): Payload =>
  batch(time, { total_events: 400 + orders, event_counts: { page_view: 400, purchase: orders } })
const QUIET_SHOP = every(HOUR, NOW - 20 * DAY, NOW - 2 * DAY).map((time) =>
  batch(time, { total_events: 1_203, event_counts: { page_view: 1_200, purchase: 3 } }),
)
const sinceTwoDays = (ordersAt: (time: number) => number) =>
  every(20 * MINUTE, NOW - 2 * DAY, NOW).map((time) => twenty(time, ordersAt(time)))

testOnEveryEngine('data_volume: orders that come two at a time are found where only that tells', async (store, t) => {
  const orders = (time: number) => (time < NOW - 8 * HOUR ? 1 : 2)
  const site = await siteWith(store, [...QUIET_SHOP, ...sinceTwoDays(orders)])
  const { status, message, details } = await resultOf(t, store, site, dataVolume, { doubled: true })
  assert.equal(status, 'warning')
  assert.match(
    message,
    /^“purchase” came twice as often as usual for its visits: \d+ in \d+ h, usually \d+, two at a time in 24 of 24 minutes/,
  )
  const { times, minutes_with_any, minutes_with_multiples } = details.findings[0]?.evidence ?? {}
  assert.deepEqual([times, minutes_with_any, minutes_with_multiples], [2, 24, 24])
})

testLogic('data_volume: as many orders one by one are not taken for pairs', async (store, t) => {
  const one = (time: number) => twenty(time + 10 * MINUTE, 1)
  const more = every(20 * MINUTE, NOW - 8 * HOUR, NOW - 10 * MINUTE).map(one)
  const site = await siteWith(store, [...QUIET_SHOP, ...sinceTwoDays(() => 1), ...more])
  const { status } = await resultOf(t, store, site, dataVolume, { doubled: true })
  assert.equal(status, 'ok')
})

testOnEveryEngine('how events come by the minute is read of any number of them', async (store) => {
  const site = await siteWith(
    store,
    sinceTwoDays(() => 3),
  )
  const hours = async () => {
    const read = await readEventRepeats({ store, site, now: NOW }, NOW, ['purchase'])
    return new Set(read.get('purchase')?.map(({ minutes, twos, threes }) => `${minutes} ${twos} ${threes}`))
  }
  assert.deepEqual(await hours(), new Set(['3 0 3']))
  for (const [events, expected] of [
    [6, '3 3 3'],
    [7, '3 0 0'],
    [0, '0 0 0'],
    // More than an integer holds.
    [1e300, '3 3 3'],
  ] as const) {
    await store.write
      .updateTable('minute_parts')
      .set({ events: JSON.stringify([['purchase', events]]) })
      .execute()
    assert.deepEqual(await hours(), new Set([expected]), `${events}`)
  }
})

testLogic('data_volume: a site that is known for hours only is learned first', async (store, t) => {
  const site = await siteWith(
    store,
    every(SLOT, NOW - 8 * HOUR, NOW - HOUR).map((time) => five(time)),
  )
  const { status, message, reason } = await resultOf(t, store, site, dataVolume)
  assert.deepEqual([status, reason], ['ok', 'learning'])
  assert.equal(message, 'Learning: 7 of 24 hours, judging starts 21 Nov, 03:00')
})

testLogic('data_volume: a site that never sent is not judged, and one that just began is learned', async (store, t) => {
  const { status, reason, message } = await resultOf(t, store, await siteWith(store, []), dataVolume)
  assert.deepEqual([status, reason, message], ['ok', 'no_data', 'No event has arrived yet'])
  // In the minute that has not ended, which is not counted yet.
  const begun = await resultOf(t, store, await siteWith(store, [five(NOW)]), dataVolume, {}, NOW + SECOND)
  assert.deepEqual([begun.status, begun.message], ['ok', 'Learning: 0 of 24 hours, judging starts 21 Nov, 11:00'])
})

testLogic('data_volume: a site with a few events a day is not judged', async (store, t) => {
  const rare = every(8 * HOUR, NOW - 17 * DAY, NOW).map((time) => batch(time, { total_events: 1 }))
  const { status, reason, message } = await resultOf(t, store, await siteWith(store, rare), dataVolume)
  assert.deepEqual([status, reason], ['ok', 'learning'])
  assert.equal(message, 'Learning: 3 events in 24 h, usually 3; judging starts once 8.3 are usual')
  const daily = every(22 * HOUR, NOW - 17 * DAY, NOW).map((time) => batch(time, { total_events: 1 }))
  const once = await resultOf(t, store, await siteWith(store, daily), dataVolume)
  assert.match(once.message, /^Learning: 1 event in 24 h, usually 1; /)
})

testOnEveryEngine(
  'data_volume: a quiet site is judged after two days, if only by whether it is silent',
  async (store, t) => {
    const quiet = every(5 * MINUTE, NOW - 2 * DAY - 2 * HOUR, NOW).map((time) => batch(time, { total_events: 1 }))
    const { reason, message } = await resultOf(t, store, await siteWith(store, quiet), dataVolume)
    assert.equal(reason, null)
    assert.match(message, /^as usual: \d+ events in \d+ h/)
  },
)

testLogic('data probes that cannot compare with the day before say from when they can', async (store, t) => {
  const known = every(HOUR, NOW - 2 * DAY, NOW).map(hour)
  const site = await siteWith(store, known)
  const outage = { began_at: NOW - DAY - 90 * MINUTE, ended_at: NOW - DAY + 30 * MINUTE }
  await store.write.insertInto('outages').values(outage).execute()
  const says = 'Learning: this hour of the day is not known yet, judging starts 20 Nov, 11:05'
  for (const type of [dataVolume, dataFreshness]) {
    const { reason, message } = await resultOf(t, store, site, type)
    assert.deepEqual([reason, message], ['learning', says])
  }
})

testOnEveryEngine('data probes do not judge while the counts are behind what was received', async (store, t) => {
  const site = await siteWith(store, [...EARLIER, ...recent((time) => (time < NOW - HOUR ? [five(time)] : []))])
  const waiting = deltaOf(site.site_no, [eventPayload({ timestamp_ms: NOW - HOUR })], NOW)
  await writeJournal(store, 'of a node that hangs', 1, waiting)
  await store.write
    .updateTable('journal')
    .set({ written_at: NOW - 10 * MINUTE })
    .execute()
  const { status, message, details } = await resultOf(t, store, site, dataVolume)
  assert.deepEqual([status, message], ['error', 'The counts are 10 minutes behind what was received'])
  assert.deepEqual([details.reason, details.complete_until], ['counts_behind', isoTime(NOW - 10 * MINUTE)])
})

testLogic('findings that details have no room for are counted', async (store, t) => {
  const names = Array.from({ length: 60 }, (_, index) => `${'event '.repeat(30)}${index}`)
  const all = (time: number, each: number): Payload =>
    batch(time, {
      total_events: (names.length + 1) * each,
      event_counts: Object.fromEntries([...names, 'page_view'].map((name) => [name, each])),
    })
  const earlier = every(HOUR, NOW - 4 * DAY, NOW - 2 * HOUR).map((time) => all(time, 600 + ((time / HOUR) % 7)))
  const lately = every(SLOT, NOW - 2 * HOUR, NOW).map((time) =>
    batch(time, { total_events: 3_050, event_counts: { page_view: 3_050 } }),
  )
  const { status, details } = await resultOf(t, store, await siteWith(store, [...earlier, ...lately]), dataVolume)
  assert.equal(status, 'critical')
  assert.ok(details.findings.length > 5, `${details.findings.length} findings`)
  assert.ok(details.findings.length + details.left_out >= names.length)
  assert.ok(details.left_out > 0)
})
