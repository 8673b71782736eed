import assert from 'node:assert/strict'
import { test } from 'node:test'
import { logNormal, poisson, type Random, seededRandom, weighted } from '../../../src/cli/demo/events.ts'

const draws = (random: Random, count: number) => Array.from({ length: count }, () => random())

test('the same seed gives the same numbers, another seed others', () => {
  assert.deepEqual(draws(seededRandom('a/1'), 50), draws(seededRandom('a/1'), 50))
  assert.notDeepEqual(draws(seededRandom('a/1'), 5), draws(seededRandom('a/2'), 5))
})

test('numbers are spread evenly from 0 to 1, over one seed and over the first of many', () => {
  const oneSeed = draws(seededRandom('even'), 10_000)
  const manySeeds = Array.from({ length: 10_000 }, (_, n) => seededRandom(`minute/${n * 60_000}`)())
  for (const numbers of [oneSeed, manySeeds]) {
    const tenths = Map.groupBy(numbers, (number) => Math.floor(number * 10))
    assert.deepEqual([...tenths.keys()].sort(), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
    for (const those of tenths.values()) assert.ok(Math.abs(those.length - 1_000) < 150, `${those.length} in a tenth`)
  }
})

for (const mean of [0, 0.3, 8, 60]) {
  test(`what happens ${mean} times on average does`, () => {
    const random = seededRandom(`poisson ${mean}`)
    const counts = Array.from({ length: 5_000 }, () => poisson(random, mean))
    const average = counts.reduce((sum, count) => sum + count, 0) / counts.length
    assert.ok(Math.abs(average - mean) <= 0.05 * mean, `${average}`)
  })
}

test('half of the log-normal values are above the median, and none is below 0', () => {
  const random = seededRandom('times')
  const values = Array.from({ length: 5_000 }, () => logNormal(random, 120, 0.6))
  assert.ok(values.every((value) => value > 0))
  assert.ok(Math.abs(values.filter((value) => value > 120).length - 2_500) < 150)
})

const PLACES: readonly [draw: number, place: number][] = [
  [0, 0],
  [0.249, 0],
  [0.25, 2],
  [0.999, 2],
]

for (const [draw, place] of PLACES) {
  test(`a draw of ${draw} among the weights 1, 0 and 3 falls on place ${place}`, () => {
    assert.equal(
      weighted(() => draw, [1, 0, 3]),
      place,
    )
  })
}
