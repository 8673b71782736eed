import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  besideRest,
  chanceOf,
  countChange,
  LEAST_NOISE,
  levelNoise,
  shareChange,
  shareNoise,
  significant,
  USUAL_NOISE,
} from '../../src/detection/week-change.ts'
import { Random } from '../../testkit/random.ts'

test('a change of counts is measured by what both of them vary by themselves', () => {
  // √(2·1,500 + 2·0.04·750²) = 219
  assert.deepEqual(
    [countChange(500, 1_000, 0.04), countChange(1_000, 500, 0.04)].map((change) => change?.deviations.toFixed(2)),
    ['-2.28', '2.28'],
  )
  // Of a steady one the same is a great change, and more of it is a greater one.
  const steady = [700, 500, 100, 0].map((now) => Math.abs(countChange(now, 1_000, LEAST_NOISE.level)?.deviations ?? 0))
  assert.ok((steady[0] ?? 0) > 3)
  assert.deepEqual(
    steady.toSorted((a, b) => a - b),
    steady,
  )
})

test('what is too little to look at is no change', () => {
  assert.equal(countChange(0, 19, 0.0025), null)
  assert.notEqual(countChange(0, 20, 0.0025), null)
  assert.equal(countChange(1_000_000, 1_099_999, 0.0025), null)
  const runs = (count: number, bad: number) => ({ runs: count, bad })
  assert.equal(shareChange(runs(49, 49), runs(1_000, 0), 0), null)
  assert.equal(shareChange(runs(1_000, 1_000), runs(49, 0), 0), null)
  assert.equal(shareChange(runs(100_000, 1_900), runs(100_000, 1_000), 0), null)
  assert.ok((shareChange(runs(100_000, 2_000), runs(100_000, 1_000), 0)?.deviations ?? 0) > 10)
})

test('of nothing at all there is no change, and none is a number that is none', () => {
  assert.equal(countChange(0, 0, 0.04), null)
  assert.equal(shareChange({ runs: 0, bad: 0 }, { runs: 0, bad: 0 }, 0.01), null)
  assert.equal(besideRest(100, { now: 50, before: 0 }), 100)
  // A hostile sender may count more failures than runs.
  for (const change of [
    countChange(Number.MAX_SAFE_INTEGER, 0, 0.04),
    countChange(0, Number.MAX_SAFE_INTEGER, 0.04),
    shareChange({ runs: 100, bad: 1_000 }, { runs: 100, bad: 0 }, LEAST_NOISE.share),
  ]) {
    assert.ok(change !== null && Number.isFinite(change.deviations) && Number.isFinite(change.usual))
  }
})

test('a part of a site is expected to follow the rest of it, within bounds', () => {
  assert.equal(besideRest(100, { now: 50, before: 100 }), 50)
  assert.equal(besideRest(100, { now: 0, before: 100 }), 20)
  assert.equal(besideRest(100, { now: 1_000, before: 100 }), 300)
})

test('the noise of a level is that of its past, whatever the weekdays are like and blind to a day of fault', () => {
  const week = [100, 110, 120, 115, 130, 60, 50].map((count) => 100 * count)
  const steady = [...week, ...week, ...week, ...week]
  assert.ok(levelNoise(steady) < 0.006, `${levelNoise(steady)}`)
  assert.ok(levelNoise(steady.with(15, 0)) < 0.006)
  const dice = new Random(1)
  const random = () => dice.next()
  const restless = steady.map((count) => count * (0.5 + random()))
  assert.ok(levelNoise(restless) > 3 * levelNoise(steady))
  assert.equal(levelNoise([1, 2, 3]), USUAL_NOISE.level)
  assert.equal(levelNoise(new Array<number>(28).fill(0)), USUAL_NOISE.level)
  // Small counts vary by themselves: that is not the level.
  assert.ok(levelNoise(Array.from({ length: 28 }, (_, day) => 10 + 3 * (day % 2))) < 0.01)
})

test('the noise of a share of failures is measured in the same way', () => {
  const day = (bad: number) => ({ runs: 10_000, bad })
  const steady = Array.from({ length: 28 }, () => day(100))
  const restless = steady.map((_, index) => day(index % 3 === 0 ? 900 : 50))
  assert.ok(shareNoise(steady) < 0.0001)
  assert.ok(shareNoise(restless) > 10 * shareNoise(steady))
  assert.equal(shareNoise([]), USUAL_NOISE.share)
})

test('the chance of a deviation is that of the normal distribution, either way', () => {
  for (const [deviations, chance] of [
    [0, 1],
    [1, 0.3173],
    [1.959964, 0.05],
    [3.290527, 0.001],
    [-5, 5.733e-7],
  ] as const) {
    assert.ok(Math.abs(chanceOf(deviations) / chance - 1) < 1e-3, `${deviations}: ${chanceOf(deviations)}`)
  }
})

test('the more is looked for, the less likely a change has to be', () => {
  assert.equal(significant([], 100), 0)
  assert.equal(significant([0.001], 100), 0)
  assert.equal(significant([0.000_4], 100), 1)
  // The second is let in by the third.
  assert.equal(significant([0.000_4, 0.001_2, 0.001_4, 0.5], 100), 3)
})

test('where nothing changed, twenty mornings of a thousand subjects list next to nothing', () => {
  const dice = new Random(2)
  const random = () => dice.next()
  const normal = () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
  let listed = 0
  for (let morning = 0; morning < 20; morning++) {
    const chances = Array.from({ length: 1_000 }, () => {
      const value = () => Math.max(0, 1_000 * (1 + 0.2 * normal()))
      return chanceOf(countChange(value(), value(), 0.04)?.deviations ?? 0)
    }).sort((a, b) => a - b)
    listed += significant(chances, 1_000)
  }
  assert.ok(listed <= 3, `${listed}`)
})
