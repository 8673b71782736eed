import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TAG_MISSING_DEFAULTS, type TagMissingInput, type TagOnEvent, tagMissing } from '../../src/detection/index.ts'
import { DAY, floorTo, HOUR, isoTime, MINUTE } from '../../src/lib/index.ts'
import { bucketsUntil, NOON, SLOT } from './support.ts'

const MIDNIGHT = floorTo(NOON, DAY)
const filled = (length: number, value: number) => Array.from({ length }, () => value)

interface Course {
  /** Occurrences of the event by day, hour and five minutes. */
  perDay?: number
  perHour?: number
  perSlot?: number
  /** On how many of them the tag ran. */
  days: readonly number[]
  hours: readonly number[]
  /** Executions of the tag on all events. */
  slots?: readonly number[]
  others?: readonly TagOnEvent[]
}

function judge({
  perDay = 200,
  perHour = 10,
  perSlot = 1,
  days,
  hours,
  slots = filled(12, perSlot),
  others = [],
}: Course) {
  const input: TagMissingInput = {
    days: bucketsUntil(MIDNIGHT, DAY, 14),
    hours: bucketsUntil(NOON, HOUR, 24),
    slots: bucketsUntil(NOON, SLOT, 12),
    events: ['purchase', 'lead'].map((event_name) => ({
      event_name,
      days: filled(14, perDay),
      hours: filled(24, perHour),
      slots: filled(12, perSlot),
    })),
    pairs: [{ event_name: 'purchase', tag_key: 'Ads', days, hours }, ...others],
    executions: new Map([['Ads', slots]]),
  }
  return tagMissing(input, TAG_MISSING_DEFAULTS)
}

const ALWAYS = filled(14, 200)
const stopped = (hours: number) => [...filled(24 - hours, 10), ...filled(hours, 0)]

const CASES: readonly (Course & { what: string; status: string })[] = [
  { what: 'that runs as ever', days: ALWAYS, hours: filled(24, 10), status: 'ok' },
  { what: 'that missed the last 30 occurrences', days: ALWAYS, hours: stopped(3), status: 'critical' },
  { what: 'that missed the last 20 occurrences', days: ALWAYS, hours: stopped(2), status: 'warning' },
  {
    what: 'that missed the last 2 occurrences',
    perHour: 2,
    days: ALWAYS,
    hours: [...filled(23, 2), 0],
    status: 'ok',
  },
  {
    what: 'that missed the last 10 occurrences and 4 % of the others',
    days: filled(14, 192),
    hours: stopped(1),
    status: 'warning',
  },
  {
    what: 'that missed the last 10 occurrences, and as many together every other day',
    days: Array.from({ length: 14 }, (_, day) => 200 - 16 * (day % 2)),
    hours: stopped(1),
    status: 'ok',
  },
  { what: 'that still runs on 4 %', perHour: 50, days: ALWAYS, hours: [...filled(23, 50), 2], status: 'critical' },
  { what: 'that still runs on 6 %', perHour: 50, days: ALWAYS, hours: [...filled(23, 50), 3], status: 'ok' },
  { what: 'that never ran on more than 94 %', days: filled(14, 188), hours: stopped(6), status: 'ok' },
  { what: 'on an event that was too rare', perDay: 14, days: filled(14, 14), hours: stopped(6), status: 'ok' },
  {
    what: 'that died two days ago',
    days: [...filled(12, 200), 0, 0],
    hours: stopped(24),
    slots: filled(12, 0),
    status: 'critical',
  },
  {
    what: 'that was removed more than a week ago',
    days: [...filled(5, 200), ...filled(9, 0)],
    hours: stopped(24),
    status: 'ok',
  },
  {
    what: 'that is three days old and died',
    days: [...filled(11, 0), ...filled(3, 200)],
    hours: stopped(4),
    status: 'critical',
  },
  {
    what: 'that died minutes ago',
    perHour: 400,
    perSlot: 40,
    days: ALWAYS,
    hours: [...filled(23, 400), 360],
    slots: [...filled(11, 40), 0],
    status: 'critical',
  },
]
for (const { what, status, ...course } of CASES) {
  test(`a tag ${what} is ${status}`, () => assert.equal(judge(course).status, status))
}

test('a tag on two events is one tag', () => {
  const onLead = { event_name: 'lead', tag_key: 'Ads', days: ALWAYS, hours: filled(24, 10) }
  const { status, message, details } = judge({ days: ALWAYS, hours: filled(24, 10), others: [onLead] })
  assert.deepEqual([status, message, details.judged], ['ok', '1 tag runs on the events it belongs to', 2])
})

test('a finding names tag and event, and since when', () => {
  const { message, details } = judge({ days: ALWAYS, hours: stopped(3) })
  assert.match(message, /“Ads” ran on 0 of the last 30 “purchase” events \(3 h\); it used to run on 100 %/)
  assert.deepEqual(details.findings[0]?.subject, { event_name: 'purchase', tag_key: 'Ads' })
  assert.equal(details.findings[0]?.since, isoTime(NOON - 3 * HOUR))
})

test('of a tag that died within the hour, its last minutes say since when, and all its events count', () => {
  const rare = { event_name: 'lead', tag_key: 'Ads', days: ALWAYS, hours: filled(24, 10) }
  const minutes = bucketsUntil(NOON, MINUTE, 60)
  const each = (every: number) => minutes.map((_, index) => (index % every === 0 ? 1 : 0))
  const { status, message, details } = tagMissing(
    {
      days: bucketsUntil(MIDNIGHT, DAY, 14),
      hours: bucketsUntil(NOON, HOUR, 24),
      slots: minutes,
      events: ['purchase', 'lead'].map((event_name) => ({
        event_name,
        days: ALWAYS,
        hours: filled(24, 10),
        slots: each(6),
      })),
      pairs: [{ ...rare, event_name: 'purchase' }, rare],
      executions: new Map([['Ads', each(6).with(48, 0).with(54, 0)]]),
    },
    TAG_MISSING_DEFAULTS,
  )
  assert.equal(status, 'warning')
  assert.match(
    message,
    /^“Ads” ran on none of the last 4 events that it belongs to \(17 min\), 2 of them “(purchase|lead)”; it used to run on 100 %/,
  )
  assert.equal(details.findings[0]?.since, isoTime(NOON - 17 * MINUTE))
})

test('a tag whose place a new one took may have been renamed: that is a warning', () => {
  const successor = {
    event_name: 'purchase',
    tag_key: 'Ads 2',
    days: filled(14, 0),
    hours: [...filled(21, 0), 10, 10, 10],
  }
  const { status, message } = judge({ days: ALWAYS, hours: stopped(3), others: [successor] })
  assert.equal(status, 'warning')
  assert.match(message, /“Ads 2” runs instead: renamed or replaced\?/)
  // On the days after, too: at midnight it became critical.
  const sinceYesterday = { ...successor, days: [...filled(13, 0), 70], hours: [...filled(4, 0), ...filled(20, 10)] }
  const yesterday = { days: [...filled(13, 200), 130], hours: stopped(20) }
  assert.equal(judge({ ...yesterday, others: [sinceYesterday] }).status, 'warning')
  const later = { ...successor, days: [...filled(11, 0), 40, 100, 100], hours: filled(24, 10) }
  const before = { days: [...filled(11, 200), 60, 0, 0], hours: filled(24, 0) }
  assert.equal(judge({ ...before, others: [later] }).status, 'warning')
  const older = { ...later, days: later.days.with(10, 1) }
  assert.equal(judge({ ...before, others: [older] }).status, 'critical', 'it ran beside it the day before')
})

test('a tag that comes back is missing since it stopped, not from the end of the hour under way on', () => {
  const { status, details } = judge({ days: ALWAYS, hours: [...filled(21, 10), 0, 0, 1], slots: [...filled(11, 0), 1] })
  assert.deepEqual([status, details.findings[0]?.since], ['critical', isoTime(NOON - 3 * HOUR)])
})

test('that a new tag may have taken its place is said at once, before it is known by 30 occurrences', () => {
  const inLastHour = (tag_key: string, runs: number) => ({
    ...{ event_name: 'purchase', tag_key, days: filled(14, 0), hours: [...filled(23, 0), runs] },
  })
  // Of the ten in the hour under way it ran on the first four.
  const course = { days: ALWAYS, hours: [...filled(23, 10), 4], slots: [...filled(6, 1), ...filled(6, 0)] }
  const { status, message } = judge({ ...course, others: [inLastHour('Ads 2', 6)] })
  assert.equal(status, 'warning')
  assert.match(
    message,
    /^“Ads” ran on 0 of the last 6 “purchase” events \(30 min\); it used to run on 100 %; “Ads 2” runs/,
  )
  const seldom = judge({ ...course, others: [inLastHour('Consent', 3)] })
  assert.doesNotMatch(seldom.message, /instead/, 'one that runs on half of the others took no place')
})

test('of a tag that is gone from several events the one that came most often is named', () => {
  const days = bucketsUntil(MIDNIGHT, DAY, 14)
  const [hours, slots] = [bucketsUntil(NOON, HOUR, 24), bucketsUntil(NOON, SLOT, 12)]
  const came = (event_name: string, often: number) => ({
    ...{ event_name, days: filled(14, 100 * often), hours: filled(24, 4 * often), slots: filled(12, often) },
  })
  const ran = (event_name: string, often: number) => ({
    ...{ event_name, tag_key: 'Ads', days: filled(14, 100 * often), hours: [...filled(23, 4 * often), 0] },
  })
  const { message } = tagMissing(
    {
      ...{ days, hours, slots },
      events: [came('lead', 1), came('page_view', 2)],
      pairs: [ran('lead', 1), ran('page_view', 2)],
      executions: new Map([['Ads', [...filled(9, 3), ...filled(3, 0)]]]),
    },
    TAG_MISSING_DEFAULTS,
  )
  assert.match(message, /^“Ads” ran on none of the last 9 events that it belongs to \(15 min\), 6 of them “page_view”/)
})

test('a site that changed to batches no longer says which event a tag ran on', () => {
  const { status } = judge({ days: ALWAYS, hours: filled(24, 0), slots: filled(12, 1) })
  assert.equal(status, 'ok')
})
