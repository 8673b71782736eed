import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Shedding } from '../../src/ingest/shedding.ts'

/** One stretch of requests, evenly spread over `ms`, and the pause behind it. Returns the share that was let in. */
function stretch(shedding: Shedding, from: number, ms: number, requests: number): number {
  let taken = 0
  for (let i = 0; i < requests; i++) if (shedding.admits(from + (i * ms) / requests)) taken++
  shedding.pause(from + ms)
  return taken / requests
}

/** Such stretches one after the other; the shares. */
const stretches = (shedding: Shedding, from: number, ms: number, requests: number, times: number): number[] =>
  Array.from({ length: times }, (_, i) => stretch(shedding, from + i * ms, ms, requests))

test('a busy service that pauses soon enough admits every request', () => {
  assert.deepEqual(stretches(new Shedding(0), 0, 90, 5_000, 50), new Array(50).fill(1))
})

test('catching up after a stall refuses no request', () => {
  const shedding = new Shedding(0)
  assert.equal(stretch(shedding, 0, 20, 200), 1)
  // Nothing is taken for five seconds; then what has gathered.
  assert.equal(stretch(shedding, 5_000, 240, 10_000), 1)
  assert.equal(stretch(shedding, 5_240, 20, 200), 1)
})

test('few requests that take long are no overload', () => {
  assert.deepEqual(stretches(new Shedding(0), 0, 2_000, 400, 5), [1, 1, 1, 1, 1])
})

test('under lasting overload more and more is refused, but never more than three of four', () => {
  const shares = stretches(new Shedding(0), 0, 200, 4_000, 20)
  assert.deepEqual(shares.slice(0, 1), [1])
  assert.ok((shares[1] ?? 1) < 1 && (shares[2] ?? 1) < (shares[1] ?? 1), `${shares}`)
  assert.deepEqual(
    shares.slice(5).map((share) => Math.round(share * 100)),
    new Array(15).fill(25),
  )
})

test('periods that are each within the patience are overload together', () => {
  const shares = stretches(new Shedding(0), 0, 120, 4_000, 20)
  assert.deepEqual([shares[0], shares[1]], [1, 1])
  assert.ok((shares.at(-1) ?? 1) < 0.5, `${shares}`)
})

test('a busy period that does not end sheds load while it lasts', () => {
  const shedding = new Shedding(0)
  const taken = (from: number) =>
    Array.from({ length: 1_000 }, (_, i) => shedding.admits(from + i / 4)).filter((admitted) => admitted).length
  assert.equal(taken(0), 1_000)
  assert.ok(taken(300) < 500)
  assert.equal(taken(3_000), 250)
})

test('overload that starts and stops within the patience refuses no request', () => {
  const shedding = new Shedding(0)
  for (let at = 0; at < 10_000; at += 250) {
    assert.equal(stretch(shedding, at, 230, 4_000), 1)
    assert.equal(stretch(shedding, at + 230, 20, 100), 1)
  }
})

test('when overload ends, all requests are admitted again within a second', () => {
  const shedding = new Shedding(0)
  stretches(shedding, 0, 500, 10_000, 10)
  const shares = stretches(shedding, 5_000, 20, 100, 50)
  assert.ok((shares[0] ?? 1) < 0.5)
  assert.deepEqual(shares.slice(-10), new Array(10).fill(1))
})

test('an idle service admits requests again', () => {
  const shedding = new Shedding(0)
  stretches(shedding, 0, 500, 10_000, 10)
  shedding.pause(10_000)
  assert.equal(stretch(shedding, 10_000, 20, 100), 1)
})
