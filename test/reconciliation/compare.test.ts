import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isoTime } from '../../src/lib/index.ts'
import { capturedShare, compareDays, type HourlySeries, together } from '../../src/reconciliation/compare.ts'
import { localDays } from '../../src/uptime/index.ts'
import { NOW } from '../../testkit/clock.ts'

const at = (time: string): number => Date.parse(`${time}Z`)

const seriesOf = (reference: Record<string, number>, counted: Record<string, number>, down: string[] = []) => {
  const byHour = (of: Record<string, number>) => new Map(Object.entries(of).map(([hour, n]) => [at(hour), n]))
  const isUnknown = (hour: number) => down.some((each) => at(each) === hour)
  return { reference: byHour(reference), counted: byHour(counted), isUnknown, from: 0 } satisfies HourlySeries
}

test('an hour of which nothing was reported is missing, and one of which 0 was is not', () => {
  const days = localDays('UTC', NOW, 1)
  const [day] = compareDays(
    days,
    seriesOf(
      { '2026-11-20T06:00': 10, '2026-11-20T07:00': 0, '2026-11-20T09:00': 5 },
      { '2026-11-20T06:00': 9, '2026-11-20T08:00': 4, '2026-11-20T09:00': 1 },
      ['2026-11-20T09:00'],
    ),
    NOW,
  )
  assert.deepEqual(day, {
    ...days[0],
    comparedHours: 2,
    reference: 10,
    counted: 9,
    missingHours: 7,
    countedInMissing: 4,
    unknownHours: 1,
    isOver: false,
  })
})

test('days are those of the zone, and an hour that is not over is in none', () => {
  // Berlin is an hour ahead: 23:00 is tomorrow's first. Kolkata is five and a half: its day begins in the middle of an hour.
  const series = seriesOf(
    { '2026-11-19T22:00': 1, '2026-11-19T23:00': 2, '2026-11-20T09:00': 4, '2026-11-20T10:00': 8 },
    {},
  )
  const sums = (zone: string) =>
    compareDays(localDays(zone, NOW, 2), series, NOW).map(({ day, reference }) => [day, reference])
  assert.deepEqual(sums('Europe/Berlin'), [
    ['2026-11-19', 1],
    ['2026-11-20', 6],
  ])
  const half = seriesOf({ '2026-11-19T18:00': 1, '2026-11-19T19:00': 2 }, {})
  assert.deepEqual(
    compareDays(localDays('Asia/Kolkata', NOW, 2), half, NOW).map(({ reference }) => reference),
    [1, 2],
  )
})

test('a day of 25 hours has 25', () => {
  const days = localDays('Europe/Berlin', at('2026-10-26T12:00'), 2)
  const [long] = compareDays(days, seriesOf({}, {}), NOW)
  assert.deepEqual([long?.day, long?.missingHours], ['2026-10-25', 25])
  assert.equal(isoTime(long?.from ?? 0), '2026-10-24T22:00:00.000Z')
})

test('days add up, and a source that counted nothing has no share', () => {
  const one = { comparedHours: 1, reference: 8, counted: 6, missingHours: 1, countedInMissing: 2, unknownHours: 0 }
  const all = together([one, { ...one, reference: 0, counted: 0 }, one])
  assert.deepEqual(all, {
    comparedHours: 3,
    reference: 16,
    counted: 12,
    missingHours: 3,
    countedInMissing: 6,
    unknownHours: 0,
  })
  assert.equal(capturedShare(all), 0.75)
  assert.equal(capturedShare({ reference: 0, counted: 5 }), null)
  assert.equal(capturedShare({ reference: 4, counted: 6 }), 1.5)
})
