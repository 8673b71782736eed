import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { logChanceTogether } from '../../src/detection/across-sites.ts'
import { binomialTail } from '../../src/detection/statistics.ts'

const isNear = (value: number, wanted: number) => assert.ok(Math.abs(value - wanted) < 1e-9, `${value}, not ${wanted}`)

test('sites alike are a binomial number', () => {
  for (const [count, sites, rate] of [
    [3, 10, 0.02],
    [1, 40, 0.001],
    [40, 60, 0.5],
  ] as const) {
    isNear(logChanceTogether(count, Array(sites).fill(rate)), Math.log(binomialTail(count, sites, rate)))
  }
})

test('one that always fails says nothing, and one that never does cannot', () => {
  isNear(logChanceTogether(1, [1, 0.01]), 0)
  assert.equal(logChanceTogether(2, [0.3, 0]), Number.NEGATIVE_INFINITY)
  assert.equal(logChanceTogether(3, [0.3, 0.3]), Number.NEGATIVE_INFINITY)
})

test('three of 200 sites at once by one chance in ten thousand each is once in a million', () => {
  const chance = logChanceTogether(3, Array(200).fill(1e-4)) / Math.LN10
  assert.ok(chance < -5.8 && chance > -6, String(chance))
})

test('the more sites fail, and the rarer they do, the more surprising it is', () => {
  const rates = fc.array(fc.double({ min: 0.001, max: 0.5, noNaN: true }), { minLength: 2, maxLength: 40 })
  fc.assert(
    fc.property(rates, fc.nat(39), (all, many) => {
      const count = 1 + (many % all.length)
      const chance = logChanceTogether(count, all)
      assert.ok(logChanceTogether(count + 1, all) <= chance)
      const rarer = all.map((rate) => rate / 2)
      assert.ok(logChanceTogether(count, rarer) <= chance + 1e-12)
    }),
  )
})
