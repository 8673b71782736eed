import assert from 'node:assert/strict'
import { test } from 'node:test'
import { laneCount, laneOf, lanesOf, lanesToFold, startOfLane, type Waiting } from '../../src/journal/lanes.ts'
import { MINUTE, SECOND } from '../../src/lib/index.ts'

const NOW = Date.parse('2026-11-20T10:00:30.000Z')

const BUSY = { arrived: 10_000, sites: 10_000 }

const waiting = (...lanes: Partial<Waiting>[]) =>
  new Map(
    lanes.map((lane, index) => [index + 1, { requests: 0, sites: 100, characters: 0, since: NOW - SECOND, ...lane }]),
  )

test('a site has one lane for each number of lanes, and a lane belongs to one number', () => {
  const numberOf = new Map<number, number>()
  for (const siteNo of [1, 2, 7, 127, 128, 1_000_003]) {
    const lanes = lanesOf(siteNo)
    for (let count = 1; count <= 64; count *= 2) {
      const lane = laneOf(siteNo, count)
      assert.ok(lanes.includes(lane))
      assert.equal(numberOf.get(lane) ?? count, count)
      numberOf.set(lane, count)
    }
    assert.equal(lanes.length, 8)
    assert.equal(lanes[0], 0, 'rows of any sites may be of this one')
  }
})

test('the numbers of all lanes are numbers that a database and JavaScript can tell apart', () => {
  assert.ok(Number.isSafeInteger(startOfLane(128)))
  assert.ok(startOfLane(2) - startOfLane(1) > 1_000_000 * 86_400 * 10, 'ten days of a million commits a second')
})

test('where little waits all of it is folded at once', () => {
  const lanes = waiting({ requests: 400 }, { requests: 3 }, { requests: 500 })
  assert.deepEqual(lanesToFold(lanes, { arrived: 900, sites: 200 }, NOW).toSorted(), [1, 2, 3])
  assert.deepEqual(lanesToFold(new Map(), { arrived: 0, sites: 0 }, NOW), [])
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
    assert.equal(lanesToFold(lanes, { arrived: 6_000, sites: 1_000 }, NOW).includes(1), isFolded, what)
  }
})

test('lanes that are due together are folded over some rounds, the most urgent first', () => {
  const lanes = waiting(...Array.from({ length: 16 }, (_, index) => ({ requests: 3_200 + index })))
  const first = lanesToFold(lanes, BUSY, NOW)
  assert.deepEqual(first, [16, 15, 14, 13, 12])
  for (const lane of first) lanes.delete(lane)
  assert.deepEqual(lanesToFold(lanes, BUSY, NOW), [11, 10, 9, 8, 7])
  const late = new Map([...lanes].map(([lane, of]) => [lane, { ...of, since: NOW - 15 * SECOND }]))
  assert.equal(lanesToFold(late, BUSY, NOW).length, lanes.size, 'what has waited for 15 seconds waits no longer')
})

test('a busy node has as many lanes as it has thousands of sites, where requests of the same sites meet', () => {
  const cases: [what: string, before: number, arrived: number, sites: number, after: number][] = [
    ['little to do', 1, 1_000, 500, 1],
    ['little to do any more', 16, 800, 10_000, 1],
    ['few sites', 1, 5_000, 900, 1],
    ['some more', 1, 5_000, 1_001, 2],
    ['many', 1, 5_000, 10_000, 16],
    ['as many again', 16, 5_000, 9_000, 16],
    ['fewer', 16, 5_000, 3_000, 8],
    ['so many that hardly two requests meet', 16, 5_000, 100_000, 1],
    ['so many, and as many requests', 1, 50_000, 100_000, 64],
  ]
  for (const [what, before, arrived, sites, after] of cases) {
    assert.equal(laneCount(before, { arrived, sites }), after, what)
  }
})

test('where requests of the same sites do not meet nothing waits for that', () => {
  const lanes = waiting({ requests: 3_000, sites: 3_000 }, { requests: 2_000, sites: 2_000 })
  assert.deepEqual(lanesToFold(lanes, { arrived: 5_000, sites: 100_000 }, NOW).toSorted(), [1, 2])
  assert.deepEqual(lanesToFold(lanes, { arrived: 5_000, sites: 10_000 }, NOW), [])
  // The load has ended: what waits does so for its time.
  assert.deepEqual(lanesToFold(lanes, { arrived: 10, sites: 100_000 }, NOW), [])
})
