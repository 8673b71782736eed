import assert from 'node:assert/strict'
import { test } from 'node:test'
import { localTime } from '../../../src/detection/index.ts'
import { isoTime } from '../../../src/lib/index.ts'
import { markedDays, publicHolidays } from '../../../src/probes/counts/holidays.ts'

const YEAR_END = { from: Date.UTC(2026, 11, 20), to: Date.UTC(2027, 0, 5) }

async function holidaysIn(timezone: string, range = YEAR_END) {
  const days = await publicHolidays(timezone, localTime(timezone), range)
  return days.map(({ from, to }) => [isoTime(from), isoTime(to)])
}

test('public holidays last from local midnight to local midnight, also across the turn of the year', async () => {
  assert.deepEqual(await holidaysIn('Europe/Berlin'), [
    ['2026-12-24T23:00:00.000Z', '2026-12-25T23:00:00.000Z'],
    ['2026-12-25T23:00:00.000Z', '2026-12-26T23:00:00.000Z'],
    ['2026-12-31T23:00:00.000Z', '2027-01-01T23:00:00.000Z'],
  ])
})

test('a zone that is not the capital has its own midnight', async () => {
  const july = { from: Date.UTC(2026, 6, 1), to: Date.UTC(2026, 6, 10) }
  const [first] = await holidaysIn('America/Los_Angeles', july)
  assert.equal(new Date(first?.[0] ?? 0).getUTCHours(), 7)
})

for (const timezone of ['Asia/Kolkata', 'Asia/Calcutta']) {
  test(`${timezone} has the holidays of its country`, async () => {
    const january = { from: Date.UTC(2026, 0, 20), to: Date.UTC(2026, 0, 30) }
    assert.deepEqual(await holidaysIn(timezone, january), [['2026-01-25T18:30:00.000Z', '2026-01-26T18:30:00.000Z']])
  })
}

test('a zone of no country has no holidays', async () => {
  assert.deepEqual(await holidaysIn('UTC'), [])
})

test('marked days last from local midnight to local midnight, also when the clocks change', () => {
  // On 25 October 2026 clocks in Berlin go back.
  const days = [{ first_day: '2026-10-24', last_day: '2026-10-25' }]
  assert.deepEqual(
    markedDays(days, localTime('Europe/Berlin')).map(({ from, to }) => [isoTime(from), isoTime(to)]),
    [['2026-10-23T22:00:00.000Z', '2026-10-25T23:00:00.000Z']],
  )
})
