import assert from 'node:assert/strict'
import { test } from 'node:test'
import { rhythmOf } from '../../../src/cli/demo/events.ts'
import { COFFEE, FASHION, FURNITURE, OUTDOOR, SITES } from '../../../src/cli/demo/world.ts'
import { DAY, HOUR, MINUTE } from '../../../src/lib/index.ts'

const MONDAY = Date.parse('2026-11-16T00:00:00Z')

for (const site of SITES) {
  test(`${site.name} has its mean over a week`, () => {
    const rhythm = rhythmOf(site)
    let sum = 0
    for (let time = MONDAY; time < MONDAY + 7 * DAY; time += MINUTE) sum += rhythm(time)
    const mean = sum / ((7 * DAY) / MINUTE)
    assert.ok(Math.abs(mean / site.eventsPerMinute - 1) < 0.001, `${mean}`)
  })
}

/** The busiest minute of a Monday in UTC: the zone's busiest local hour. */
const BUSIEST = [
  { site: OUTDOOR, at: '19:00' },
  { site: FURNITURE, at: '01:00' },
  { site: FASHION, at: '15:30' },
  { site: COFFEE, at: '08:00' },
]

for (const { site, at } of BUSIEST) {
  test(`${site.name} in ${site.timezone} is busiest at ${at} UTC`, () => {
    const rhythm = rhythmOf(site)
    const minutes = Array.from({ length: DAY / MINUTE }, (_, n) => MONDAY + DAY + n * MINUTE)
    const busiest = minutes.reduce((best, minute) => (rhythm(minute) > rhythm(best) ? minute : best))
    assert.equal(new Date(busiest).toISOString().slice(11, 16), at)
  })
}

test('local hours follow the clocks when they change', () => {
  const rhythm = rhythmOf(OUTDOOR)
  const summer = rhythm(Date.parse('2026-10-18T12:00:00Z'))
  const winter = rhythm(Date.parse('2026-10-25T13:00:00Z'))
  assert.equal(summer, winter)
})

test('traffic does not jump from one minute to the next on a weekday', () => {
  for (const site of SITES) {
    const rhythm = rhythmOf(site)
    for (let time = MONDAY + DAY + 6 * HOUR; time < MONDAY + DAY + 18 * HOUR; time += MINUTE) {
      const change = rhythm(time + MINUTE) / rhythm(time)
      assert.ok(change > 0.9 && change < 1.1, `${site.name}: ${change}`)
    }
  }
})
