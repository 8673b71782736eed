import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Arrivals } from '../lib/arrivals.ts'

const STARTED_AT = 1_000

describe('arrivals of a steady load', () => {
  it('hands out each request once, as soon as it is due', () => {
    const arrivals = new Arrivals(STARTED_AT, 200)
    assert.deepEqual(arrivals.upTo(STARTED_AT - 1), [])
    assert.deepEqual(arrivals.upTo(STARTED_AT), [1_000])
    assert.deepEqual(arrivals.upTo(STARTED_AT + 4), [])
    assert.deepEqual(arrivals.upTo(STARTED_AT + 5), [1_005])
    assert.deepEqual(arrivals.upTo(STARTED_AT + 5), [])
  })

  it('keeps the times of those that fell due while the generator was away', () => {
    const arrivals = new Arrivals(STARTED_AT, 200)
    arrivals.upTo(STARTED_AT)
    assert.deepEqual(arrivals.upTo(STARTED_AT + 17), [1_005, 1_010, 1_015])
  })

  it('hands out as many as the pace says, also where the interval is no whole number', () => {
    const arrivals = new Arrivals(STARTED_AT, 300)
    let count = 0
    for (let now = STARTED_AT; now < STARTED_AT + 60_000; now += 1) count += arrivals.upTo(now).length
    assert.equal(count, 60 * 300)
  })
})
