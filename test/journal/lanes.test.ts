import assert from 'node:assert/strict'
import { test } from 'node:test'
import { countOf, laneCount, laneOf, lanesOf, lanesToFold, startOfLane, type Waiting } from '../../src/journal/lanes.ts'
import { MINUTE, SECOND } from '../../src/lib/index.ts'

const NOW = Date.parse('2026-11-20T10:00:30.000Z')

const waiting = (...lanes: Partial<Waiting>[]) =>
  new Map(
    lanes.map((lane, index) => [index + 1, { requests: 0, sites: 100, characters: 0, since: NOW - SECOND, ...lane }]),
  )

test('a site has one lane for each number of lanes, and a lane belongs to one number', () => {
  const numberOf = new Map<number, number>()
  for (const siteNo of [1, 2, 7, 127, 128, 1_000_003]) {
    const lanes = lanesOf(siteNo)
    for (let count = 1; count <= 128; count *= 2) {
      const lane = laneOf(siteNo, count)
      assert.ok(lanes.includes(lane))
      assert.equal(numberOf.get(lane) ?? count, count)
      numberOf.set(lane, count)
    }
    assert.equal(lanes.length, 9)
    assert.equal(lanes[0], 0, 'rows of any sites may be of this one')
  }
})

test('the numbers of all lanes are numbers that a database and JavaScript can tell apart', () => {
  assert.ok(Number.isSafeInteger(startOfLane(256)))
  assert.ok(startOfLane(2) - startOfLane(1) > 1_000_000 * 86_400 * 10, 'ten days of a million commits a second')
})

test('where little waits all of it is folded at once', () => {
  const lanes = waiting({ requests: 400 }, { requests: 3 }, { requests: 500 })
  assert.deepEqual(lanesToFold(lanes, 900, NOW).toSorted(), [1, 2, 3])
  assert.deepEqual(lanesToFold(new Map(), 0, NOW), [])
})

test('where much waits a lane waits until its sites have sent several requests each, or for some seconds at most', () => {
  const cases: [what: string, lane: Partial<Waiting>, isFolded: boolean][] = [
    ['a few requests of each site', { requests: 3_100 }, false],
    ['32 of each', { requests: 3_200 }, true],
    ['one site that sends all the time', { requests: 3_100, sites: 1 }, true],
    ['so many names that no wait merges them', { requests: 300, characters: 8_000_000 }, true],
    ['eight seconds old', { requests: 3_100, since: NOW - 8 * SECOND }, true],
    ['of the future, after the clock was set back', { requests: 3_100, since: NOW + MINUTE }, true],
    ['of a commit that wrote to no site, as far as is known', { requests: 0, sites: 0 }, false],
  ]
  for (const [what, lane, isFolded] of cases) {
    const lanes = waiting(lane, { requests: 3_000 })
    assert.equal(lanesToFold(lanes, 6_000, NOW).includes(1), isFolded, what)
  }
})

test('lanes that are due together are folded over some rounds, the most urgent first', () => {
  const lanes = waiting(...Array.from({ length: 16 }, (_, index) => ({ requests: 3_200 + index })))
  const first = lanesToFold(lanes, 10_000, NOW)
  assert.deepEqual(first, [16, 15, 14, 13, 12])
  for (const lane of first) lanes.delete(lane)
  assert.deepEqual(lanesToFold(lanes, 10_000, NOW), [11, 10, 9, 8, 7])
  const late = new Map([...lanes].map(([lane, of]) => [lane, { ...of, since: NOW - 15 * SECOND }]))
  assert.equal(lanesToFold(late, 10_000, NOW).length, lanes.size, 'what has waited for 15 seconds waits no longer')
})

test('a lane says of how many it is one', () => {
  for (const count of [1, 2, 4, 64, 128]) {
    for (const siteNo of [0, 1, 17, 127]) assert.equal(countOf(laneOf(siteNo, count)), count)
  }
})

test('a busy node has as many lanes as it has thousands of sites, and another has one', () => {
  const cases: [before: number, arrived: number, sites: number, after: number][] = [
    [1, 1_000, 500_000, 1],
    [16, 800, 10_000, 1],
    [1, 5_000, 900, 1],
    [1, 5_000, 1_001, 2],
    [1, 5_000, 10_000, 16],
    [1, 9_000, 1_000_000, 128],
    // A lane that was just folded has no sites: that must not change their number.
    [16, 5_000, 5_000, 16],
    [16, 5_000, 3_000, 8],
  ]
  for (const [before, arrived, sites, after] of cases) {
    assert.equal(laneCount(before, arrived, sites), after, `${before} ${arrived} ${sites}`)
  }
})
