import assert from 'node:assert/strict'
import { test } from 'node:test'
import { logGamma, logLowerTail, logUpperTail } from '../../src/detection/negative-binomial.ts'

/** The tail by adding up, with p(k + 1) = p(k) · (k + r)/(k + 1) · q. */
function lowerTailBySum(count: number, mean: number, noise: number): number {
  const size = 1 / noise
  const q = mean / (mean + size)
  let term = (1 - q) ** size
  let tail = 0
  for (let k = 0; k <= count; k++) {
    tail += term
    term *= ((k + size) / (k + 1)) * q
  }
  return tail
}

const isNear = (value: number, wanted: number, digits = 1e-6) =>
  assert.ok(Math.abs(value - wanted) <= digits * Math.max(1, Math.abs(wanted)), `${value}, not ${wanted}`)

for (const [count, mean, noise] of [
  [0, 5, 0.1],
  [3, 10, 0.02],
  [40, 100, 0.05],
  [120, 100, 0.3],
  [900, 1_000, 0.001],
] as const) {
  test(`so few as ${count} of ${mean} at a noise of ${noise} have the chance that adding up gives`, () => {
    isNear(logLowerTail(count, { mean, burst: 1, noise }), Math.log(lowerTailBySum(count, mean, noise)))
    isNear(Math.exp(logUpperTail(count + 1, { mean, burst: 1, noise })), 1 - lowerTailBySum(count, mean, noise))
  })
}

test('without noise and bursts it is a Poisson number', () => {
  isNear(logLowerTail(0, { mean: 12, burst: 1, noise: 0 }), -12, 1e-4)
})

test('events that come four at a time are a quarter as many', () => {
  isNear(logLowerTail(40, { mean: 100, burst: 4, noise: 0.05 }), logLowerTail(10, { mean: 25, burst: 1, noise: 0.05 }))
})

test('of what is far beyond doubles the logarithm is still known', () => {
  const chance = logLowerTail(10, { mean: 1e6, burst: 1, noise: 1e-4 })
  assert.ok(Number.isFinite(chance) && chance < -5_000, String(chance))
})

test('counts up to the largest integer of a double have the chances of smaller ones', () => {
  for (const noise of [0.01, 0.3]) {
    for (const share of [0.5, 0.9, 1, 1.1, 2]) {
      const chances = ([1e8, 9e15] as const).map((mean) => {
        const model = { mean, burst: 1, noise }
        return [logLowerTail(share * mean, model), logUpperTail(share * mean, model)] as const
      })
      const [[lower = 1, upper = 1] = [], [lowerOfMost = 1, upperOfMost = 1] = []] = chances
      isNear(lowerOfMost, lower, 1e-3)
      isNear(upperOfMost, upper, 1e-3)
    }
  }
})

test('nothing expected is no surprise, and something of it is one', () => {
  assert.equal(logLowerTail(0, { mean: 0, burst: 1, noise: 0.1 }), 0)
  assert.equal(logUpperTail(0, { mean: 0, burst: 1, noise: 0.1 }), 0)
  assert.equal(logUpperTail(1, { mean: 0, burst: 1, noise: 0.1 }), Number.NEGATIVE_INFINITY)
})

test('the logarithm of Γ is that of factorials', () => {
  isNear(logGamma(11), Math.log(3_628_800))
  isNear(logGamma(0.5), Math.log(Math.sqrt(Math.PI)))
})
