import assert from 'node:assert/strict'
import type { Payload } from '../../../src/journal/payload.ts'
import { DAY, floorTo, HOUR, isoTime, MINUTE } from '../../../src/lib/index.ts'
import { tagMissing } from '../../../src/probes/types/tag-missing.ts'
import { NOW } from '../../../testkit/clock.ts'
import { testLogic } from '../../../testkit/engines.ts'
import { batch, event } from '../../../testkit/payloads.ts'
import { every, resultOf, siteWith } from './data-support.ts'

const purchase = (time: number, ...names: string[]): Payload =>
  event(time, {
    event_name: 'purchase',
    tags: names.map((name) => ({ id: String(name.length), name, status: 'success' })),
  })

/** A purchase every half hour for eight days, with the tags that `tagsAt` says. */
const purchases = (tagsAt: (time: number) => string[]) =>
  every(30 * MINUTE, floorTo(NOW, DAY) - 8 * DAY, NOW).map((time) => purchase(time, ...tagsAt(time)))

testLogic('tag_missing: tags that run on their event are fine', async (store, t) => {
  const site = await siteWith(
    store,
    purchases(() => ['GA4', 'Google Ads']),
  )
  const { status, message } = await resultOf(t, store, site, tagMissing)
  assert.deepEqual([status, message], ['ok', '2 tags run on the events they belong to'])
})

testLogic('tag_missing: a tag that no longer runs on its event is critical and named', async (store, t) => {
  const since = NOW - 18 * HOUR
  const site = await siteWith(
    store,
    purchases((time) => (time < since ? ['GA4', 'Google Ads'] : ['GA4'])),
  )
  const { status, message, details } = await resultOf(t, store, site, tagMissing)
  assert.equal(status, 'critical')
  assert.match(message, /^“Google Ads” ran on 0 of the last 3\d “purchase” events \(.*\); it used to run on 95 %$/)
  const [finding, ...others] = details.findings
  assert.deepEqual(others, [])
  assert.deepEqual(finding?.subject, { event_name: 'purchase', tag_key: 'Google Ads' })
  assert.equal(finding?.since, isoTime(since))
})

testLogic('tag_missing: a dead tag of a busy event is found within minutes', async (store, t) => {
  const site = await siteWith(store, [
    ...purchases(() => ['GA4', 'Google Ads']),
    ...every(MINUTE / 4, NOW - HOUR, NOW).map((time) =>
      purchase(time, ...(time < NOW - 10 * MINUTE ? ['GA4', 'Google Ads'] : ['GA4'])),
    ),
  ])
  const { status, details } = await resultOf(t, store, site, tagMissing)
  assert.equal(status, 'critical')
  assert.deepEqual(details.findings[0]?.subject, { event_name: 'purchase', tag_key: 'Google Ads' })
})

testLogic('tag_missing: a tag that another one replaced is a warning', async (store, t) => {
  const since = NOW - 8 * HOUR
  const site = await siteWith(
    store,
    purchases((time) => ['GA4', time < since ? 'Google Ads' : 'Google Ads (new)']),
  )
  const { status, message } = await resultOf(t, store, site, tagMissing, { recent_occurrences: 10 })
  assert.equal(status, 'warning')
  assert.match(message, /“Google Ads \(new\)” runs instead: renamed or replaced\?$/)
})

testLogic('tag_missing: a tag that was given another name is the same tag', async (store, t) => {
  const since = NOW - 18 * HOUR
  const named = (time: number) => ({ id: '7', name: time < since ? 'Ads' : 'Google Ads', status: 'success' as const })
  const payloads = every(30 * MINUTE, floorTo(NOW, DAY) - 8 * DAY, NOW).map((time) =>
    event(time, { event_name: 'purchase', tags: [named(time)] }),
  )
  const { status, message } = await resultOf(t, store, await siteWith(store, payloads), tagMissing)
  assert.deepEqual([status, message], ['ok', '1 tag runs on the events it belongs to'])
})

testLogic('tag_missing: on the first day it says that one has to be over', async (store, t) => {
  const payloads = every(30 * MINUTE, NOW - 5 * HOUR, NOW).map((time) => purchase(time, 'GA4'))
  const { message } = await resultOf(t, store, await siteWith(store, payloads), tagMissing)
  assert.equal(message, 'Learning: 0 of 1 day, judging starts 21 Nov')
})

testLogic('tag_missing: a site without enough of a past is learned first', async (store, t) => {
  const payloads = every(30 * MINUTE, NOW - 20 * HOUR, NOW).map((time) => purchase(time, 'GA4'))
  const { status, message, reason } = await resultOf(t, store, await siteWith(store, payloads), tagMissing)
  assert.deepEqual([status, reason], ['ok', 'learning'])
  assert.match(message, /^Learning: in 1 whole day no tag ran on more than \d+ occurrences of an event/)
})

testLogic('tag_missing: batches do not say which tag ran on which event', async (store, t) => {
  const payloads = every(30 * MINUTE, NOW - 9 * DAY, NOW).map((time) =>
    batch(time, { total_events: 50, event_counts: { purchase: 50 }, tag_metrics: { GA4: { success: 50, count: 50 } } }),
  )
  const { reason, message } = await resultOf(t, store, await siteWith(store, payloads), tagMissing)
  assert.deepEqual(
    [reason, message],
    ['no_data', 'No payload has reported which tags ran on which event (batches do not)'],
  )
})

testLogic('tag_missing: events that stand for ten each are judged as those that were sent', async (store, t) => {
  const weighted = (payload: Payload): Payload => (payload.batch === true ? payload : { ...payload, weight: 10 })
  for (const [since, expected] of [
    [NOW - 90 * MINUTE, 'ok'],
    [NOW - 18 * HOUR, 'critical'],
  ] as const) {
    const sent = purchases((time) => (time < since ? ['GA4', 'Google Ads'] : ['GA4']))
    const plain = await resultOf(t, store, await siteWith(store, sent), tagMissing)
    const sampled = await resultOf(t, store, await siteWith(store, sent.map(weighted)), tagMissing)
    assert.equal(plain.status, expected)
    assert.deepEqual([sampled.status, sampled.message], [plain.status, plain.message])
    assert.deepEqual(sampled.details, plain.details)
  }
})
