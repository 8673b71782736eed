import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DAY, HOUR, isoTime } from '../../src/lib/index.ts'
import { lastEvening } from '../../src/today/today.ts'
import { comparedHours, lastDay, weeksOf } from '../../src/today/weeks.ts'

test('the evening before is at 18:00 of the day before, on the clocks of the zone', () => {
  for (const [now, zone, evening] of [
    ['2026-11-20T08:00:00Z', 'Europe/Berlin', '2026-11-19T17:00:00.000Z'],
    // An hour after midnight, and an hour before it.
    ['2026-11-20T00:00:00Z', 'Europe/Berlin', '2026-11-19T17:00:00.000Z'],
    ['2026-11-19T22:00:00Z', 'Europe/Berlin', '2026-11-18T17:00:00.000Z'],
    // The clocks went back in the night.
    ['2026-10-25T08:00:00Z', 'Europe/Berlin', '2026-10-24T16:00:00.000Z'],
    ['2026-11-20T08:00:00Z', 'Asia/Kolkata', '2026-11-19T12:30:00.000Z'],
    ['2026-11-20T08:00:00Z', 'America/Los_Angeles', '2026-11-20T02:00:00.000Z'],
  ] as const) {
    assert.equal(isoTime(lastEvening(Date.parse(now), zone)), evening, `${now} in ${zone}`)
  }
})

test('the last day ends with the last hour that is settled, and begins 24 hours before', () => {
  const { now, before } = lastDay(Date.parse('2026-11-20T09:04:59Z'), 'UTC')
  assert.deepEqual([now.from, now.to].map(isoTime), ['2026-11-19T08:00:00.000Z', '2026-11-20T08:00:00.000Z'])
  assert.deepEqual([now.from - before.from, now.to - before.to], [7 * DAY, 7 * DAY])
  assert.equal(isoTime(lastDay(Date.parse('2026-11-20T09:05:00Z'), 'UTC').now.to), '2026-11-20T09:00:00.000Z')
})

test('where the clocks were changed in between, the week before is by the clock and as long', () => {
  const { now, before } = lastDay(Date.parse('2026-10-26T10:10:00Z'), 'Europe/Berlin')
  assert.equal(now.from - before.from, 7 * DAY + HOUR)
  assert.equal(before.to - before.from, DAY)
  const long = weeksOf(
    { from: Date.parse('2026-10-24T22:00:00Z'), to: Date.parse('2026-10-25T23:00:00Z') },
    'Europe/Berlin',
  )
  assert.equal(long.before.to - long.before.from, 25 * HOUR)
})

test('a window that does not begin with an hour is read from the hour on', () => {
  const { now, before } = weeksOf(
    { from: Date.parse('2026-11-18T18:30:00Z'), to: Date.parse('2026-11-19T18:30:00Z') },
    'Asia/Kolkata',
  )
  assert.deepEqual([now.from, before.to].map(isoTime), ['2026-11-18T18:00:00.000Z', '2026-11-12T18:00:00.000Z'])
})

test('an hour in which this service was down is left out of both weeks, whichever it was', () => {
  const weeks = lastDay(Date.parse('2026-11-20T10:10:00Z'), 'UTC')
  const at = (window: { from: number }, hours: number) => window.from + hours * HOUR
  const between = (window: { from: number }, from: number, to: number) => ({
    from: at(window, from),
    to: at(window, to),
  })
  const parts = [
    [0, 2],
    [4, 20],
    [21, 24],
  ] as const
  const outages = [between(weeks.before, 20, 21), between(weeks.now, 2.5, 3.1)]
  assert.deepEqual(comparedHours(weeks, outages), {
    now: parts.map(([from, to]) => between(weeks.now, from, to)),
    before: parts.map(([from, to]) => between(weeks.before, from, to)),
    leftOut: 3,
  })
  assert.deepEqual(comparedHours(weeks, []), { now: [weeks.now], before: [weeks.before], leftOut: 0 })
  const all = { from: weeks.now.from, to: weeks.now.to }
  assert.deepEqual(comparedHours(weeks, [all]), { now: [], before: [], leftOut: 24 })
})
