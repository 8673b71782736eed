import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Random } from '../detection/random.ts'
import { isVisible } from '../detection/visible.ts'
import { type Benign, benignLevel, randomBenign } from '../detection/visitors/benign.ts'
import { HOLIDAYS, visitorSite } from '../detection/visitors/profile.ts'
import { benignCause, visitorHistory } from '../detection/visitors/site.ts'
import { midnightOf, visitorTraffic } from '../detection/visitors/traffic.ts'
import { SLOTS, SLOTS_A_DAY, SLOTS_AN_HOUR } from '../detection/world.ts'

const sum = (values: Iterable<number>): number => [...values].reduce((total, value) => total + value, 0)

/** A site with visits enough that chance hardly shows, and without days of its own. */
function calmSite(seed: number) {
  const site = visitorSite(new Random(seed), 0)
  return { ...site, visits: 2_000, dayNoise: 0, hourNoise: 0, trend: 1, bornOn: 0, gammaShape: 1_000 }
}

test('visitors bring the events that their site says, in the shares that it says', () => {
  for (const seed of [1, 2, 3, 4]) {
    const site = calmSite(seed)
    const { events, level } = visitorTraffic(site, [], [], new Random(seed))
    const expected = sum(level)
    for (const { name, share } of site.events) {
      const came = sum(events.get(name) ?? [])
      const chance = 8 * Math.sqrt(60 / Math.max(1, share * expected))
      assert.ok(Math.abs(came / (share * expected) - 1) < Math.max(0.03, chance), `${site.name}: ${name} ${came}`)
    }
  }
})

test('counts of visitors vary as much as their site says, several times as much as single events', () => {
  const site = { ...calmSite(1), week: new Float64Array(7 * 96).fill(1) }
  const { events } = visitorTraffic(site, [], [], new Random(5))
  const page = site.events[0]
  const counts = events.get(page?.name ?? '') ?? new Float64Array()
  const hours = Array.from({ length: SLOTS / SLOTS_AN_HOUR }, (_, hour) =>
    sum(counts.subarray(hour * SLOTS_AN_HOUR, (hour + 1) * SLOTS_AN_HOUR)),
  )
  const mean = sum(hours) / hours.length
  const burst = sum(hours.map((count) => (count - mean) ** 2)) / hours.length / mean
  assert.ok((page?.burst ?? 0) > 5, `${page?.burst}`)
  assert.ok(burst > 0.7 * (page?.burst ?? 0) && burst < 1.4 * (page?.burst ?? 0), `${burst}, not ${page?.burst}`)
})

test('a silent sender sends nothing, and half of the visits or of the events are lost where half are', () => {
  const site = calmSite(2)
  const [from, to] = [20 * SLOTS_A_DAY, 22 * SLOTS_A_DAY]
  const share = (size: number, kind: 'silent_sender' | 'partial_loss') => {
    const { events, level } = visitorTraffic(site, [], [{ kind, from, to, size }], new Random(9))
    const page = events.get(site.events[0]?.name ?? '') ?? new Float64Array()
    return sum(page.subarray(from, to)) / sum(level.subarray(from, to))
  }
  assert.equal(share(0, 'silent_sender'), 0)
  const half = share(0.5, 'partial_loss')
  assert.ok(half > 0.45 && half < 0.55, `${half}`)
})

test('a site and its faults depend on nothing but the seed', () => {
  const [one, other] = [3, 3].map((seed) => visitorHistory(new Random(seed), 0))
  assert.deepEqual(one?.total, other?.total)
  assert.deepEqual(one?.faults, other?.faults)
  assert.notDeepEqual(visitorHistory(new Random(4), 0).total, one?.total)
})

test('of what nothing is expected, no loss is visible', () => {
  const history = visitorHistory(new Random(6), 0)
  const from = 40 * SLOTS_A_DAY
  const fault = { kind: 'event_dead', from, to: from + SLOTS_A_DAY, size: 0, event: 'never sent' } as const
  assert.equal(isVisible(fault, history), false)
})

test('public holidays fall on the local days of the country', () => {
  const site = { ...visitorSite(new Random(1), 0), country: 'AU', timezone: 'Australia/Sydney' } as const
  const midnight = midnightOf(site.timezone)
  const holidays = randomBenign(site, new Random(1), midnight).filter(({ kind }) => kind === 'holiday')
  assert.deepEqual(
    holidays.map(({ from }) => from),
    HOLIDAYS.AU.map((day) => midnight(day)),
  )
  // Sydney is eleven hours ahead before the first Sunday of April, and ten after it.
  assert.deepEqual([midnight(0), midnight(50)], [-11 * SLOTS_AN_HOUR, 50 * SLOTS_A_DAY - 10 * SLOTS_AN_HOUR])
})

const campaign: Benign = { kind: 'campaign', from: 1_000, to: 1_600, size: 3, interest: 0.5 }

test('a campaign brings more visits, of whom fewer go on', () => {
  assert.deepEqual(benignLevel([campaign], 999), { visits: 1, interest: 1 })
  const { visits, interest } = benignLevel([campaign], 1_200)
  assert.deepEqual([visits, Math.round(interest * 1_000)], [3, 667])
})

const LAUNCH: Benign = { kind: 'launch', from: 20_000, to: SLOTS, size: 2, interest: 1 }
for (const [what, slot, cause] of [
  ['before everything', 900, null],
  ['while a campaign runs', 1_100, 'campaign'],
  ['some hours after it', 1_700, 'campaign'],
  ['long after it', 5_000, null],
  ['a week after it', 1_100 + 7 * SLOTS_A_DAY, 'echo'],
  ['days after a launch', 24_000, 'launch'],
  ['weeks after a launch', 50_000, null],
] as const) {
  test(`an alarm ${what} is explained by ${cause ?? 'nothing'}`, () =>
    assert.equal(benignCause([campaign, LAUNCH], slot), cause))
}
