import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DAY, HOUR, isoTime, MINUTE, SECOND } from '../../../src/lib/index.ts'
import { deadlineAfter, judgePush, localPeriod, type PushFacts, waitingAfter } from '../../../src/probes/push/judge.ts'

const AT = Date.parse('2026-11-20T03:00:00.000Z')
const clock = (time: number) => isoTime(time).slice(11, 16)

/** A job that called at 03:00, which is due every day with an hour of grace. */
const daily = (over: Partial<PushFacts>): PushFacts => ({
  now: AT + HOUR,
  period: DAY,
  grace: HOUR,
  missed: 'critical',
  waitingSince: AT - 10 * DAY,
  startedAt: null,
  timezone: 'UTC',
  last: { at: AT, status: 'ok', message: '', since: AT - DAY },
  outages: [],
  ...over,
})

const never = { waitingSince: AT, last: null }
const failed = { at: AT, status: 'critical' as const, message: 'disk full', since: AT - MINUTE }

const JUDGED: readonly [what: string, facts: Partial<PushFacts>, status: string, said: RegExp][] = [
  ['before the first call', never, 'ok no_data', /^Waiting for its first call; missed from 04:00 on$/],
  ['at the last moment for the first', { ...never, now: AT + DAY + HOUR }, 'ok no_data', /^Waiting/],
  [
    'without a first call',
    { ...never, now: AT + DAY + HOUR + 1 },
    'critical',
    /^No call has ever arrived: one was due by 03:00/,
  ],
  ['after a call', {}, 'ok', /^The last call came 03:00$/],
  ['after a call that says something', { last: { at: AT, status: 'ok', message: '7 GB', since: AT } }, 'ok', /“7 GB”$/],
  ['when it is due', { now: AT + DAY }, 'ok', /^The last call/],
  [
    'when it is late',
    { now: AT + DAY + 1 },
    'ok',
    /^Late, due by 03:00, missed from 04:00 on\. The last call came 03:00$/,
  ],
  ['at the end of the grace', { now: AT + DAY + HOUR }, 'ok', /^Late/],
  ['when it is missed', { now: AT + DAY + HOUR + 1 }, 'critical', /^No call since 03:00: .* with 60 min of grace$/],
  ['when missing is a warning', { now: AT + 2 * DAY, missed: 'warning' }, 'warning', /^No call since/],
  [
    'when it says that it failed',
    { last: failed },
    'critical',
    /^The job says that it is critical: “disk full” \(03:00\)$/,
  ],
  ['when it warns', { last: { ...failed, status: 'warning' } }, 'warning', /^The job says that it is warning/],
  // A failure is not taken back by silence.
  [
    'when it failed and is missed',
    { last: failed, now: AT + 2 * DAY, missed: 'warning' },
    'critical',
    /^No call since .* “disk full”$/,
  ],
  [
    'when it last said something fine and is missed',
    { last: { ...failed, status: 'ok' }, now: AT + 2 * DAY },
    'critical',
    /grace\. The last one said ok: “disk full”$/,
  ],
  [
    'when it warned without a word and is missed',
    { last: { ...failed, status: 'warning', message: '' }, now: AT + 2 * DAY },
    'critical',
    /grace\. The last one said warning$/,
  ],
  ['when it is resumed', { waitingSince: AT + HOUR }, 'ok no_data', /^Waiting for a call, the last came 03:00/],
  ['when it failed and is resumed', { waitingSince: AT + HOUR, last: failed }, 'ok no_data', /^Waiting for a call/],
  [
    'a whole period after it was resumed',
    { waitingSince: AT + HOUR, now: AT + DAY + 2 * HOUR + 1 },
    'critical',
    /^No call/,
  ],
  ['when the clock is behind the call', { now: AT - HOUR }, 'ok', /^The last call/],
  [
    'when it began and did not end',
    { now: AT + 2 * DAY, startedAt: AT + DAY },
    'critical',
    /^No call since 03:00, except a start 03:00: one was due by 03:00, .* of grace$/,
  ],
  [
    'when it began for the first time and did not end',
    { ...never, now: AT + 2 * DAY, startedAt: AT + HOUR },
    'critical',
    /^No call has ever arrived, except a start 04:00: one was due by/,
  ],
  [
    'when it was due while this service was down',
    { now: AT + DAY + 3 * HOUR, outages: [{ from: AT + DAY - MINUTE, to: AT + DAY + MINUTE }] },
    'ok',
    /^The last call came 03:00\. A call may have come while this service was down$/,
  ],
]
for (const [what, facts, expected, said] of JUDGED) {
  test(`a push probe ${what} is ${expected}`, () => {
    const { status, reason, message } = judgePush(daily(facts), clock)
    assert.equal([status, reason].filter((word) => word !== undefined).join(' '), expected, message)
    assert.match(message, said)
  })
}

test('what is bad began when the call was due, or when the job first said so', () => {
  assert.equal(judgePush(daily({ now: AT + 2 * DAY }), clock).startedAt, AT + DAY)
  assert.equal(judgePush(daily({ last: failed }), clock).startedAt, AT - MINUTE)
})

test('a job of every day by local time is due an hour later where clocks go back, and never sooner', () => {
  const before = Date.parse('2026-10-24T03:00:00+02:00')
  const dueAfter = (from: number, period: number, zone = 'Europe/Berlin') => localPeriod(from, period, zone) / HOUR
  assert.equal(dueAfter(before, DAY), 25)
  assert.equal(dueAfter(before, 7 * DAY), 169)
  assert.equal(dueAfter(before + 25 * HOUR, DAY), 24)
  assert.equal(dueAfter(before, DAY, 'UTC'), 24)
  const facts = { timezone: 'Europe/Berlin', waitingSince: before - DAY, now: before + 25 * HOUR + MINUTE }
  const { status, message } = judgePush(
    daily({ ...facts, last: { at: before, status: 'ok', message: '', since: before } }),
    clock,
  )
  assert.equal(status, 'ok', message)
  // Hours are as long as ever.
  assert.equal(dueAfter(before + 12 * HOUR, 12 * HOUR), 12)
  // A job that goes by UTC is not missed where clocks go forward.
  assert.equal(dueAfter(Date.parse('2026-03-28T02:30:00+01:00'), DAY), 24)
})

/** Lengths of time from the last call, in minutes: an hour's job with ten minutes of grace. */
const DEADLINES: readonly [what: string, outages: readonly (readonly [number, number])[], end: number][] = [
  ['nothing', [], 70],
  ['an outage long before it', [[10, 49]], 70],
  ['an outage that ends as it could come', [[10, 50]], 70],
  ['an outage as it could come early', [[49, 51]], 130],
  ['an outage at the end of the grace', [[69, 71]], 130],
  ['an outage after it was missed', [[71, 500]], 70],
  [
    'two in one window',
    [
      [55, 56],
      [60, 61],
    ],
    130,
  ],
  [
    'one in this and one in the next',
    [
      [55, 61],
      [115, 116],
    ],
    190,
  ],
  [
    'one in this and one between',
    [
      [55, 61],
      [80, 81],
    ],
    130,
  ],
  ['a night', [[30, 600]], 670],
]
for (const [what, outages, end] of DEADLINES) {
  test(`with ${what} an hourly job is missed after ${end} minutes`, () => {
    const ranges = outages.map(([from, to]) => ({ from: AT + from * MINUTE, to: AT + to * MINUTE }))
    const deadline = deadlineAfter(AT, HOUR, 10 * MINUTE, ranges)
    assert.equal((deadline.end - AT) / MINUTE, end)
    assert.equal(deadline.isPutOff, end !== 70)
  })
}

test('an outage before the last call moves nothing, however long the grace', () => {
  const before = [{ from: AT - 20 * MINUTE, to: AT - MINUTE }]
  assert.equal(deadlineAfter(AT, HOUR, 2 * HOUR, before).end, AT + 3 * HOUR)
  const after = [{ from: AT + MINUTE, to: AT + 20 * MINUTE }]
  assert.equal(deadlineAfter(AT, HOUR, 2 * HOUR, after).end, AT + 5 * HOUR)
})

test('a year of outages is stepped over in no time', () => {
  const outages = Array.from({ length: 50_000 }, (_, i) => ({
    from: AT + i * 10 * MINUTE,
    to: AT + (i * 10 + 9) * MINUTE,
  }))
  const { end } = deadlineAfter(AT, MINUTE, MINUTE, outages)
  assert.ok(end > (outages.at(-1)?.to ?? 0))
})

const INTERVAL = { interval: MINUTE, outages: [] }
test('after a pause calls are waited for again from the start, after an outage they are not', () => {
  const known = { ranAt: AT, interval: MINUTE, waitingSince: AT - DAY }
  const soon = AT + 5 * MINUTE
  assert.equal(waitingAfter(known, AT - 2 * DAY, { ...INTERVAL, now: soon }), AT - DAY)
  const late = AT + HOUR
  assert.equal(waitingAfter(known, AT - 2 * DAY, { ...INTERVAL, now: late }), late)
  const outages = [{ from: AT + 5 * SECOND, to: late - 10 * SECOND }]
  assert.equal(waitingAfter(known, AT - 2 * DAY, { interval: MINUTE, now: late, outages }), AT - DAY)
  assert.equal(waitingAfter(known, AT - 2 * DAY, { interval: HOUR, now: late, outages: [] }), AT - DAY)
  const planned = { ...known, interval: HOUR }
  assert.equal(waitingAfter(planned, AT - 2 * DAY, { ...INTERVAL, now: late }), AT - DAY)
})

test('of an outage only what lies between two runs is no pause', () => {
  const known = { ranAt: AT, interval: MINUTE, waitingSince: AT - DAY }
  const now = AT + HOUR
  for (const [from, to, since] of [
    // Before the run, until after it, from before now, and after now, in minutes.
    [-120, -60, now],
    [-60, 10, now],
    [50, 120, now],
    [70, 200, now],
    [-60, 120, AT - DAY],
    [-60, 53, AT - DAY],
  ] as const) {
    const earlier = { from: AT - 4 * HOUR, to: AT - 3 * HOUR }
    const outages = [earlier, { from: AT + from * MINUTE, to: AT + to * MINUTE }]
    assert.equal(waitingAfter(known, AT - 2 * DAY, { interval: MINUTE, now, outages }), since, `${from} to ${to}`)
  }
})

test('calls are waited for from the first run on since the address was made, and again since there is another', () => {
  const first = { ranAt: null, interval: null, waitingSince: null }
  assert.equal(waitingAfter(first, AT, { ...INTERVAL, now: AT + DAY }), AT)
  assert.equal(
    waitingAfter({ ranAt: AT + HOUR, interval: null, waitingSince: AT }, AT + HOUR, { ...INTERVAL, now: AT + HOUR }),
    AT + HOUR,
  )
})
