import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { demandAfter, isWorthPublishing, shareOf } from '../../src/ingest/demand.ts'

const limits = fc.integer({ min: 1, max: 5_000 })
const demands = fc.array(fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 10_000 })), { minLength: 1, maxLength: 12 })

const sumOf = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0)
const sharesOf = (limit: number, published: readonly number[]) =>
  published.map((mine) => shareOf(limit, mine, sumOf(published) - mine, published.length))

test('unclaimed rate is divided equally, a rate below the demand by demand', () => {
  assert.deepEqual(sharesOf(90, [0, 0, 0]), [30, 30, 30])
  assert.deepEqual(sharesOf(90, [60, 0, 0]), [70, 10, 10])
  assert.deepEqual(sharesOf(90, [60, 30, 0]), [60, 30, 0])
  assert.deepEqual(sharesOf(90, [600, 300, 0]), [60, 30, 0])
  assert.deepEqual(sharesOf(90, [5_000]), [90])
})

test('the shares of all nodes add up to the limit, whatever their demands are, and none is negative', () => {
  fc.assert(
    fc.property(limits, demands, (limit, published) => {
      const shares = sharesOf(limit, published)
      assert.ok(Math.abs(sumOf(shares) - limit) < 1e-6 * limit)
      assert.ok(shares.every((share) => share >= 0))
    }),
  )
})

test('a rate that suffices for all gives every node at least its demand', () => {
  fc.assert(
    fc.property(limits, demands, (slack, published) => {
      const shares = sharesOf(sumOf(published) + slack, published)
      assert.ok(shares.every((share, node) => share >= (published[node] ?? 0)))
    }),
  )
})

test('a node that computes with less than it has published takes no larger share', () => {
  fc.assert(
    fc.property(
      limits,
      demands,
      fc.integer({ min: 0, max: 11 }),
      fc.integer({ max: 10_000 }),
      (limit, published, node, cut) => {
        const shares = sharesOf(limit, published)
        const mine = published[node]
        if (mine === undefined) return
        const share = shareOf(limit, Math.min(mine, Math.max(0, cut)), sumOf(published) - mine, published.length)
        assert.ok(share <= (shares[node] ?? 0) + 1e-9 * limit)
      },
    ),
  )
})

test('a node that publishes nothing gets at least twice its demand', () => {
  fc.assert(
    fc.property(limits, demands, fc.integer({ min: 1, max: 10_000 }), (limit, others, demand) => {
      const nodes = others.length + 1
      if (isWorthPublishing(limit, demand, sumOf(others), nodes)) return
      assert.ok(shareOf(limit, 0, sumOf(others), nodes) > 2 * demand)
    }),
  )
})

test('a node without a share publishes any demand, and one without demand never does', () => {
  assert.equal(shareOf(100, 0, 100, 3), 0)
  assert.equal(isWorthPublishing(100, 0.1, 100, 3), true)
  assert.equal(isWorthPublishing(100, 0, 100, 3), false)
})

test('a demand that changes by more than chance is taken over at once', () => {
  assert.ok(demandAfter(0, 75, 250) >= 0.9 * 300)
  assert.ok(demandAfter(300, 0, 250) <= 0.1 * 300)
})

test('a few requests in a round do not make the demand flicker', () => {
  for (const arrivals of [0, 1, 2]) {
    const demand = demandAfter(3, arrivals, 250)
    assert.ok(demand > 2.5 && demand < 4, `${demand}`)
  }
})

test('a demand that has ended becomes zero', () => {
  let demand = 300
  let rounds = 0
  for (; demand > 0; rounds++) demand = demandAfter(demand, 0, 250)
  assert.ok(rounds < 30, `${rounds}`)
})
