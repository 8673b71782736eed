import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BUCKET_STEPS, bucketIndex, bucketStarts } from '../../src/analytics/buckets.ts'
import { offsetSpans } from '../../src/analytics/window.ts'
import { DAY, HOUR, isoTime } from '../../src/lib/index.ts'
import { localDay } from '../../src/rollups/index.ts'

const cases: [zone: string, time: string, from: string, to: string][] = [
  ['UTC', '2026-11-20T23:59:00Z', '2026-11-20T00:00:00Z', '2026-11-21T00:00:00Z'],
  ['Europe/Vienna', '2026-11-20T22:59:00Z', '2026-11-19T23:00:00Z', '2026-11-20T23:00:00Z'],
  // 23 and 25 hours.
  ['Europe/Vienna', '2026-03-29T12:00:00Z', '2026-03-28T23:00:00Z', '2026-03-29T22:00:00Z'],
  ['Europe/Vienna', '2026-10-25T12:00:00Z', '2026-10-24T22:00:00Z', '2026-10-25T23:00:00Z'],
  // Midnight is at half past: its hour belongs to the day before.
  ['Asia/Kolkata', '2026-11-20T18:29:00Z', '2026-11-19T19:00:00Z', '2026-11-20T19:00:00Z'],
  ['Asia/Kolkata', '2026-11-20T18:30:00Z', '2026-11-20T19:00:00Z', '2026-11-21T19:00:00Z'],
  // The day begins at one o'clock.
  ['Africa/Cairo', '2026-04-24T12:00:00Z', '2026-04-23T22:00:00Z', '2026-04-24T21:00:00Z'],
]
for (const [zone, time, from, to] of cases) {
  test(`the local day of ${zone} that holds ${time} has the UTC hours from ${from} to ${to}`, () => {
    assert.deepEqual(localDay(zone, Date.parse(time)), { from: Date.parse(from), to: Date.parse(to) })
  })
}

test('local days follow each other, and an hour belongs to the day in which charts show it', () => {
  const zones = ['Europe/Vienna', 'America/New_York', 'Asia/Kolkata', 'Asia/Kathmandu', 'America/St_Johns']
  const atMidnight = ['Africa/Cairo', 'America/Havana', 'America/Nuuk', 'America/Santiago', 'Asia/Beirut']
  const odd = ['Australia/Lord_Howe', 'Pacific/Chatham', 'Pacific/Kiritimati', 'Antarctica/Troll']
  const year = { from: Date.parse('2026-01-01T00:00:00Z'), to: Date.parse('2027-01-01T00:00:00Z') }
  for (const zone of [...zones, ...atMidnight, ...odd]) {
    const starts = bucketStarts(BUCKET_STEPS['1d'], year, offsetSpans(zone, year))
    let day = localDay(zone, year.from)
    for (let hour = year.from; hour < year.to - DAY; hour += HOUR) {
      if (hour === day.to) {
        assert.equal(localDay(zone, hour).from, day.to, `${zone} ${isoTime(hour)}`)
        day = localDay(zone, hour)
      }
      const shown = bucketIndex(starts, hour)
      assert.equal(bucketIndex(starts, day.from), shown, `${zone} ${isoTime(hour)}`)
      assert.equal(bucketIndex(starts, day.from + 12 * HOUR), shown, `${zone} ${isoTime(hour)}`)
    }
  }
})
