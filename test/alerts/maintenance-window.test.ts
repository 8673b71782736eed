import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { Temporal } from 'temporal-polyfill'
import { nextWindow, type Schedule, type Window, windowAt } from '../../src/alerts/maintenance/window.ts'
import { DAY, HOUR, isoTime, MINUTE } from '../../src/lib/index.ts'
import { amount } from '../../testkit/length.ts'

type Weekly = Extract<Schedule, { kind: 'weekly' }>

const [MON, WED, FRI, SAT, SUN] = [1, 3, 5, 6, 7] as const

const weekly = (timezone: string, weekday: number, start: string, durationMinutes: number): Weekly => ({
  kind: 'weekly',
  weekdays: [weekday],
  start,
  durationMinutes,
  timezone,
})

const shown = (window: Window | null) => window && `${isoTime(window.startsAt)} ${isoTime(window.endsAt)}`

const CASES: [title: string, schedule: Weekly, after: string, window: string][] = [
  [
    'winter time',
    weekly('Europe/Berlin', MON, '09:30', 90),
    '2026-11-20T10:00Z',
    '2026-11-23T08:30Z 2026-11-23T10:00Z',
  ],
  [
    'summer time',
    weekly('Europe/Berlin', MON, '09:30', 90),
    '2026-07-01T00:00Z',
    '2026-07-06T07:30Z 2026-07-06T09:00Z',
  ],
  [
    'a start that the clocks leave out is when they are put forward',
    weekly('Europe/Berlin', SUN, '02:30', 60),
    '2027-03-22T00:00Z',
    '2027-03-28T01:00Z 2027-03-28T02:00Z',
  ],
  [
    'a start that comes twice is the first',
    weekly('Europe/Berlin', SUN, '02:30', 120),
    '2026-10-20T00:00Z',
    '2026-10-25T00:30Z 2026-10-25T02:30Z',
  ],
  [
    'four hours are four hours in the night that is 23 hours long, over midnight',
    weekly('Europe/Berlin', SAT, '23:00', 240),
    '2027-03-22T00:00Z',
    '2027-03-27T22:00Z 2027-03-28T02:00Z',
  ],
  [
    'over the end of the week',
    weekly('Europe/Berlin', SUN, '22:00', 600),
    '2026-11-20T10:00Z',
    '2026-11-22T21:00Z 2026-11-23T07:00Z',
  ],
  [
    'a whole week',
    weekly('Europe/Berlin', WED, '00:00', 10_080),
    '2026-11-20T10:00Z',
    '2026-11-24T23:00Z 2026-12-01T23:00Z',
  ],
  [
    'left out, west',
    weekly('America/New_York', SUN, '02:15', 30),
    '2027-03-10T00:00Z',
    '2027-03-14T07:00Z 2027-03-14T07:30Z',
  ],
  [
    'twice, west',
    weekly('America/New_York', SUN, '01:30', 60),
    '2026-10-30T00:00Z',
    '2026-11-01T05:30Z 2026-11-01T06:30Z',
  ],
  [
    'half an hour off',
    weekly('Asia/Kolkata', MON, '00:10', 20),
    '2026-11-20T10:00Z',
    '2026-11-22T18:40Z 2026-11-22T19:00Z',
  ],
  [
    'far ahead of UTC',
    weekly('Pacific/Apia', WED, '09:00', 60),
    '2026-11-20T10:00Z',
    '2026-11-24T20:00Z 2026-11-24T21:00Z',
  ],
  [
    'on the Friday that Samoa left out, when the Saturday began',
    weekly('Pacific/Apia', FRI, '10:00', 60),
    '2011-12-27T00:00Z',
    '2011-12-30T10:00Z 2011-12-30T11:00Z',
  ],
  [
    'left out by half an hour',
    weekly('Australia/Lord_Howe', SUN, '02:10', 15),
    '2026-09-30T00:00Z',
    '2026-10-03T15:30Z 2026-10-03T15:45Z',
  ],
  [
    'twice within half an hour',
    weekly('Australia/Lord_Howe', SUN, '01:45', 60),
    '2027-03-30T00:00Z',
    '2027-04-03T14:45Z 2027-04-03T15:45Z',
  ],
]

for (const [title, schedule, after, expected] of CASES) {
  test(`the window of ${schedule.timezone} at ${schedule.start}: ${title}`, () => {
    const [startsAt = 0, endsAt = 0] = expected.split(' ').map((time) => Date.parse(time))
    const window = nextWindow(schedule, Date.parse(after))
    assert.equal(shown(window), shown({ startsAt, endsAt }))
    assert.deepEqual(windowAt(schedule, startsAt), window)
    assert.deepEqual(windowAt(schedule, endsAt - 1), window)
    // One that lasts a week is followed by the next at once.
    const isWeek = schedule.durationMinutes === 10_080
    assert.equal(windowAt(schedule, startsAt - 1)?.endsAt, isWeek ? startsAt : undefined)
    assert.equal(windowAt(schedule, endsAt)?.startsAt, isWeek ? endsAt : undefined)
  })
}

test('maintenance that is once has one window', () => {
  const schedule: Schedule = { kind: 'once', startsAt: 1_000, endsAt: 2_000 }
  const window = { startsAt: 1_000, endsAt: 2_000 }
  assert.deepEqual(
    [999, 1_000, 1_999, 2_000].map((at) => windowAt(schedule, at)),
    [null, window, window, null],
  )
  assert.deepEqual(
    [0, 999, 1_000].map((after) => nextWindow(schedule, after)),
    [window, window, null],
  )
})

test('of windows that overlap, the one that began last is under way', () => {
  const schedule: Weekly = { ...weekly('UTC', MON, '00:00', 3 * 1_440), weekdays: [MON, 2] }
  const at = (time: string) => shown(windowAt(schedule, Date.parse(time)))
  assert.equal(at('2026-11-23T23:59Z'), '2026-11-23T00:00:00.000Z 2026-11-26T00:00:00.000Z')
  assert.equal(at('2026-11-24T00:00Z'), '2026-11-24T00:00:00.000Z 2026-11-27T00:00:00.000Z')
  assert.equal(at('2026-11-26T12:00Z'), '2026-11-24T00:00:00.000Z 2026-11-27T00:00:00.000Z')
})

const offsetAt = (timezone: string, time: number): number =>
  Temporal.Instant.fromEpochMilliseconds(time).toZonedDateTimeISO(timezone).offsetNanoseconds / 1e6

/** When someone who watches the clocks from `from` on first sees them show, or pass, the start on a date with one. */
function startsSeen({ timezone, weekdays, start }: Weekly, from: number, to: number): number[] {
  const [hours = 0, minutes = 0] = start.split(':').map(Number)
  const startOfDay = hours * HOUR + minutes * MINUTE
  const starts: number[] = []
  let latest = from + offsetAt(timezone, from)
  for (let time = from + MINUTE; time < to; time += MINUTE) {
    const local = time + offsetAt(timezone, time)
    for (let day = latest - (latest % DAY); day <= local; day += DAY) {
      const isoDay = ((day / DAY + 3) % 7) + 1
      if (!weekdays.includes(isoDay)) continue
      if (latest < day + startOfDay && day + startOfDay <= local) starts.push(time)
    }
    latest = Math.max(latest, local)
  }
  return starts
}

/** Between the minutes that are looked at, but for the first and last of each window, which all are. */
const STEP = amount(7, 1) * MINUTE

/** The starts of five days around changes of clocks, and of five without one. */
const SPANS: [timezone: string, from: string, start: string][] = [
  ['Europe/Berlin', '2027-03-25T12:00Z', '02:30'],
  ['Europe/Berlin', '2026-10-22T12:00Z', '02:00'],
  ['America/New_York', '2027-03-11T12:00Z', '02:59'],
  ['America/New_York', '2026-10-29T12:00Z', '01:00'],
  ['Asia/Kolkata', '2026-11-20T12:00Z', '00:00'],
  ['Pacific/Apia', '2011-12-27T12:00Z', '23:59'],
  ['Australia/Lord_Howe', '2026-10-01T12:00Z', '02:29'],
  ['Australia/Lord_Howe', '2027-04-01T12:00Z', '01:59'],
  // The clocks went from 00:01 back to 23:01 of the day before.
  ['America/St_Johns', '2010-11-04T12:00Z', '00:00'],
]

for (const [timezone, text, start] of SPANS) {
  test(`windows agree, minute by minute, with the clocks of ${timezone} from ${text} at ${start}`, () => {
    const from = Date.parse(text)
    const to = from + 5 * DAY
    const daily: Weekly = { kind: 'weekly', weekdays: [1, 2, 3, 4, 5, 6, 7], start, durationMinutes: 95, timezone }
    const atWeekend: Weekly = { ...daily, weekdays: [FRI, SUN] }
    const starts = startsSeen(daily, from, to)
    for (const [schedule, seen] of [
      [daily, starts],
      [atWeekend, startsSeen(atWeekend, from, to)],
    ] as const) {
      assert.deepEqual(startsBetween(schedule, from, to), [...new Set(seen)])
    }
    const length = 95 * MINUTE
    const edges = starts.flatMap((at) => [at - MINUTE, at, at + length - MINUTE, at + length])
    const between = Array.from({ length: (to - from - 2 * HOUR) / STEP }, (_, n) => from + 2 * HOUR + n * STEP)
    for (const time of [...edges.filter((edge) => edge >= from + 2 * HOUR && edge < to), ...between]) {
      const startsAt = starts.findLast((candidate) => candidate <= time)
      const isOn = startsAt !== undefined && time < startsAt + length
      assert.equal(windowAt(daily, time)?.startsAt, isOn ? startsAt : undefined, isoTime(time))
    }
  })
}

function startsBetween(schedule: Schedule, from: number, to: number): number[] {
  const starts: number[] = []
  for (let at = from; ; ) {
    const window = nextWindow(schedule, at)
    if (window === null || window.startsAt >= to) return starts
    starts.push(window.startsAt)
    at = window.startsAt
  }
}

const anySchedule = fc.record({
  kind: fc.constant('weekly' as const),
  weekdays: fc.uniqueArray(fc.integer({ min: 1, max: 7 }), { minLength: 1, maxLength: 7 }),
  start: fc
    .tuple(fc.integer({ min: 0, max: 23 }), fc.integer({ min: 0, max: 59 }))
    .map((parts) => parts.map((part) => String(part).padStart(2, '0')).join(':')),
  durationMinutes: fc.oneof(fc.integer({ min: 1, max: 1_500 }), fc.integer({ min: 1, max: 10_080 })),
  timezone: fc.constantFrom('Europe/Berlin', 'America/New_York', 'Asia/Kolkata', 'Pacific/Apia', 'Australia/Lord_Howe'),
})
const anyTime = fc.integer({ min: Date.parse('2013-01-01') / MINUTE, max: Date.parse('2035-01-01') / MINUTE })

test('windows follow each other without overlapping unless they last too long, and each is found at its minutes', () => {
  fc.assert(
    fc.property(anySchedule, anyTime, (schedule, minute) => {
      const from = minute * MINUTE
      const windows: Window[] = []
      for (let at = from - 9 * DAY; at < from + 8 * DAY; at = windows.at(-1)?.startsAt ?? at) {
        const window = nextWindow(schedule, at)
        assert.ok(window !== null && window.startsAt > at)
        assert.equal(window.endsAt - window.startsAt, schedule.durationMinutes * MINUTE)
        windows.push(window)
      }
      for (const [index, window] of windows.entries()) {
        const following = windows[index + 1]
        if (following === undefined) continue
        const days = Math.round((following.startsAt - window.startsAt) / DAY)
        if (schedule.durationMinutes * MINUTE <= days * DAY - HOUR) assert.ok(window.endsAt <= following.startsAt)
      }
      for (let time = from; time < from + 3 * HOUR; time += MINUTE) {
        const underWay = windows.findLast(({ startsAt, endsAt }) => startsAt <= time && time < endsAt)
        assert.deepEqual(windowAt(schedule, time), underWay ?? null)
      }
    }),
    { numRuns: 100 },
  )
})
