import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { Temporal } from 'temporal-polyfill'
import {
  AUTO_POINTS,
  BUCKET_STEPS,
  type BucketName,
  bucketIndex,
  bucketStarts,
  chooseBuckets,
} from '../../src/analytics/buckets.ts'
import { offsetSpans } from '../../src/analytics/window.ts'
import { DAY, HOUR, isoTime, MINUTE } from '../../src/lib/index.ts'

const END = Date.parse('2026-11-20T12:35:00Z')

function choose(name: BucketName, length: number, hoursOnly = false) {
  const range = { from: END - length, to: END }
  return chooseBuckets(name, range, {
    spans: offsetSpans('Europe/Vienna', range),
    minuteRowsFrom: Date.parse('2026-11-13T12:00:00Z'),
    singleMinutesFrom: Date.parse('2026-11-18T12:00:00Z'),
    pairHoursFrom: Date.parse('2026-09-17T22:00:00Z'),
    hoursOnly,
  })
}

const AUTO: readonly [length: string, ms: number, step: string][] = [
  ['an hour', HOUR, '1m'],
  ['400 minutes', 400 * MINUTE, '1m'],
  ['401 minutes', 401 * MINUTE, '5m'],
  ['24 hours', DAY, '5m'],
  ['2 days', 2 * DAY, '1h'],
  ['16 days', 16 * DAY, '1h'],
  ['17 days', 17 * DAY, '1d'],
  ['a year', 365 * DAY, '1d'],
  ['400 days', 400 * DAY, '7d'],
  ['ten years', 3_650 * DAY, '28d'],
]

for (const [length, ms, step] of AUTO) {
  test(`auto takes ${step} for ${length}`, () => {
    const buckets = choose('auto', ms)
    assert.equal(buckets.step.name, step)
    assert.ok(buckets.starts.length <= AUTO_POINTS)
  })
}

test('auto takes hours where the metric is only known per hour', () => {
  assert.equal(choose('auto', HOUR, true).step.name, '1h')
})

const LIMITS = { minuteRowsFrom: END - 7 * DAY, hoursOnly: false, pairHoursFrom: END - 63 * DAY }

test('auto takes hours where minutes are no longer kept', () => {
  const range = { from: END - 30 * DAY, to: END - 30 * DAY + HOUR }
  const spans = offsetSpans('UTC', range)
  const limits = { ...LIMITS, spans, singleMinutesFrom: END - 2 * DAY }
  assert.equal(chooseBuckets('auto', range, limits).step.name, '1h')
})

test('minutes are offered by fives where they are kept by fives, and one by one where they are kept', () => {
  const range = { from: END - 3 * DAY, to: END - 3 * DAY + HOUR }
  const spans = offsetSpans('UTC', range)
  const limits = { ...LIMITS, spans, singleMinutesFrom: range.from + MINUTE }
  assert.equal(chooseBuckets('auto', range, limits).step.name, '5m')
  assert.throws(
    () => chooseBuckets('1m', range, limits),
    /allowed values are auto, 5m, 1h, 1d \(.*minutes of that time are kept in steps of five\)/,
  )
  assert.equal(chooseBuckets('1m', range, { ...limits, singleMinutesFrom: range.from }).step.name, '1m')
})

test('auto takes days where events and tags are known per day, and hours for all else', () => {
  const range = { from: END - 64 * DAY, to: END - 63 * DAY }
  const limits = { ...LIMITS, spans: offsetSpans('UTC', range), singleMinutesFrom: END - 2 * DAY }
  assert.equal(chooseBuckets('auto', range, { ...limits, hoursOnly: true }).step.name, '1d')
  assert.equal(chooseBuckets('auto', range, limits).step.name, '1h')
  assert.throws(
    () => chooseBuckets('1h', range, { ...limits, hoursOnly: true }),
    /1h is too fine here: allowed values are auto, 1d \(.*which event a tag ran on is kept by day for a range this long\)/,
  )
})

const REFUSED: readonly [BucketName, number, boolean, RegExp][] = [
  ['1m', 1_501 * MINUTE, false, /1m is too fine here: allowed values are auto, 5m, 1h, 1d \(at most 1500 points\)/],
  ['5m', 8 * DAY, false, /allowed values are auto, 1h, 1d \(.*minutes of that time are no longer kept\)/],
  ['1h', 63 * DAY, false, /allowed values are auto, 1d /],
  ['1d', 1_600 * DAY, false, /allowed values are auto \(/],
  ['5m', HOUR, true, /allowed values are auto, 1h, 1d \(.*kept by hour\)/],
]

for (const [name, length, hoursOnly, message] of REFUSED) {
  test(`${name} for ${length / HOUR} hours${hoursOnly ? ' of events by tag' : ''} is refused, naming what is allowed`, () => {
    assert.throws(() => choose(name, length, hoursOnly), message)
  })
}

type StepName = keyof typeof BUCKET_STEPS

function starts(step: StepName, timezone: string, fromText: string, toText: string): string[] {
  const range = { from: Date.parse(fromText), to: Date.parse(toText) }
  return bucketStarts(BUCKET_STEPS[step], range, offsetSpans(timezone, range)).map((start) =>
    isoTime(start).replace(':00.000Z', 'Z'),
  )
}

const TABLE: readonly { name: string; step: StepName; zone: string; from: string; to: string; starts: string[] }[] = [
  {
    name: 'minutes start with the one that holds the beginning',
    step: '5m',
    zone: 'UTC',
    from: '2026-11-20T10:03:00Z',
    to: '2026-11-20T10:11:00Z',
    starts: ['2026-11-20T10:00Z', '2026-11-20T10:05Z', '2026-11-20T10:10Z'],
  },
  {
    name: 'hours of a half-hour zone start at its full hours',
    step: '1h',
    zone: 'Asia/Kolkata',
    from: '2026-11-20T10:00:00Z',
    to: '2026-11-20T11:31:00Z',
    starts: ['2026-11-20T09:30Z', '2026-11-20T10:30Z', '2026-11-20T11:30Z'],
  },
  {
    name: 'hours of a quarter-hour zone start at its full hours',
    step: '1h',
    zone: 'Asia/Kathmandu',
    from: '2026-11-20T10:15:00Z',
    to: '2026-11-20T11:15:00Z',
    starts: ['2026-11-20T10:15Z'],
  },
  {
    name: 'days start at local midnight, the day of the spring change after 23 hours',
    step: '1d',
    zone: 'Europe/Vienna',
    from: '2026-03-28T12:00:00Z',
    to: '2026-03-31T00:00:00Z',
    starts: ['2026-03-27T23:00Z', '2026-03-28T23:00Z', '2026-03-29T22:00Z', '2026-03-30T22:00Z'],
  },
  {
    name: 'the day of the autumn change has 25 hours',
    step: '1d',
    zone: 'Europe/Vienna',
    from: '2026-10-24T22:00:00Z',
    to: '2026-10-26T23:00:00Z',
    starts: ['2026-10-24T22:00Z', '2026-10-25T23:00Z'],
  },
  {
    name: 'the hour that comes twice in autumn is two buckets',
    step: '1h',
    zone: 'Europe/Vienna',
    from: '2026-10-25T00:00:00Z',
    to: '2026-10-25T03:00:00Z',
    starts: ['2026-10-25T00:00Z', '2026-10-25T01:00Z', '2026-10-25T02:00Z'],
  },
  {
    name: 'a day that starts at one o’clock because midnight is skipped is found',
    step: '1d',
    zone: 'Africa/Cairo',
    from: '2026-04-23T12:00:00Z',
    to: '2026-04-25T12:00:00Z',
    starts: ['2026-04-22T22:00Z', '2026-04-23T22:00Z', '2026-04-24T21:00Z'],
  },
  {
    name: 'a change of half an hour starts a bucket of its own',
    step: '1h',
    zone: 'Australia/Lord_Howe',
    from: '2026-10-03T14:30:00Z',
    to: '2026-10-03T17:00:00Z',
    starts: ['2026-10-03T14:30Z', '2026-10-03T15:30Z', '2026-10-03T16:00Z'],
  },
]

for (const { name, step, zone, from, to, starts: expected } of TABLE) {
  test(name, () => assert.deepEqual(starts(step, zone, from, to), expected))
}

const ZONES = ['UTC', 'Europe/London', 'America/New_York', 'America/St_Johns', 'Africa/Cairo', 'Asia/Kathmandu']
const zones = fc.constantFrom(...ZONES, 'Asia/Kolkata', 'Australia/Lord_Howe', 'Pacific/Apia', 'America/Havana')
const someMinute = fc
  .integer({ min: Date.parse('2026-01-01T00:00:00Z') / MINUTE, max: Date.parse('2027-01-01T00:00:00Z') / MINUTE })
  .map((minute) => minute * MINUTE)

test('day buckets are the days of the calendar, in every zone and all year', () => {
  fc.assert(
    fc.property(zones, someMinute, fc.integer({ min: 1, max: 40 }), (timezone, from, days) => {
      const range = { from, to: from + days * DAY }
      const expected: number[] = []
      let day = Temporal.Instant.fromEpochMilliseconds(from).toZonedDateTimeISO(timezone).startOfDay()
      for (; day.epochMilliseconds < range.to; day = day.add({ days: 1 }).startOfDay()) {
        expected.push(day.epochMilliseconds)
      }
      assert.deepEqual(bucketStarts(BUCKET_STEPS['1d'], range, offsetSpans(timezone, range)), expected)
    }),
    { numRuns: 60 },
  )
})

test('hour buckets start where the local clock shows a full hour', () => {
  fc.assert(
    fc.property(zones, someMinute, (timezone, from) => {
      const range = { from, to: from + 50 * HOUR }
      const found = bucketStarts(BUCKET_STEPS['1h'], range, offsetSpans(timezone, range))
      const [first = Number.NaN] = found
      assert.ok(first <= from && from - first < 2 * HOUR)
      for (let time = first + MINUTE; time < range.to; time += MINUTE) {
        const local = Temporal.Instant.fromEpochMilliseconds(time).toZonedDateTimeISO(timezone)
        if (local.minute === 0) assert.equal(found[bucketIndex(found, time)], time)
      }
    }),
    { numRuns: 10 },
  )
})

test('a time is found in the bucket that holds it', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 40 }), fc.nat(), (count, offset) => {
      const grid = Array.from({ length: count }, (_, index) => index * HOUR)
      const time = offset % (count * HOUR)
      assert.equal(bucketIndex(grid, time), Math.floor(time / HOUR))
    }),
  )
})
