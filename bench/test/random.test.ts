import assert from 'node:assert/strict'
import { test } from 'node:test'
import { clumped } from '../detection/counts.ts'
import { Random } from '../detection/random.ts'

const DRAWS = 40_000

for (const [trials, probability] of [
  [1, 0.02],
  [1, 0.49],
  [1, 0.51],
  [3, 0.5],
  [3, 0.97],
  [40, 0.3],
  [200, 0.1],
  [1_000, 0.6],
] as const) {
  test(`of ${trials} trials with ${probability} as many succeed as should, and differ as much`, () => {
    const random = new Random(trials + Math.round(100 * probability))
    const draws = Array.from({ length: DRAWS }, () => random.binomial(trials, probability))
    const mean = draws.reduce((sum, draw) => sum + draw, 0) / DRAWS
    const variance = draws.reduce((sum, draw) => sum + (draw - mean) ** 2, 0) / DRAWS
    const expected = trials * probability * (1 - probability)
    assert.ok(Math.abs(mean - trials * probability) < 4 * Math.sqrt(expected / DRAWS) + 0.001, `mean ${mean}`)
    assert.ok(Math.abs(variance / expected - 1) < 0.05, `variance ${variance} for ${expected}`)
    assert.ok(draws.every((draw) => draw >= 0 && draw <= trials && Number.isInteger(draw)))
  })
}

for (const [trials, probability, size] of [
  [1, 0.8, 5],
  [4, 0.3, 5],
  [6, 0.8, 5],
  [21, 0.5, 5],
  [100, 0.05, 7.4],
] as const) {
  test(`of ${trials} that come ${size} at a time as many are there as with a rate of ${probability} should be`, () => {
    const random = new Random(trials + Math.round(100 * probability))
    const draws = Array.from({ length: DRAWS }, () => clumped(random, trials, probability, size))
    const mean = draws.reduce((sum, draw) => sum + draw, 0) / DRAWS
    const most = trials * Math.min(trials, size) * probability * (1 - probability)
    assert.ok(Math.abs(mean - trials * probability) < 4 * Math.sqrt(most / DRAWS) + 0.001, `mean ${mean}`)
    assert.ok(draws.every((draw) => draw >= 0 && draw <= trials && Number.isInteger(draw)))
  })
}
