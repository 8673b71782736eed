import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ClientMeter } from '../../src/ingest/limits.ts'

const T = Date.parse('2026-11-20T10:00:00.000Z')
const UNLIMITED = { requestsPerSecond: null, eventsPerMonth: null }

const takeMany = (meter: ClientMeter, times: number, at: number) =>
  Array.from({ length: times }, () => meter.takeRequest(at)).filter((refusal) => refusal === undefined).length

test('a burst of one second of requests passes, then the rate of the plan', () => {
  const meter = new ClientMeter({ requestsPerSecond: 10, eventsPerMonth: null }, T)
  assert.equal(takeMany(meter, 40, T), 10)
  assert.equal(takeMany(meter, 40, T + 500), 5)
  assert.equal(takeMany(meter, 40, T + 60_000), 10)
})

test('a refused request is answered with whole seconds to wait', () => {
  const meter = new ClientMeter({ requestsPerSecond: 10, eventsPerMonth: null }, T)
  takeMany(meter, 10, T)
  assert.deepEqual(meter.takeRequest(T), { limit: 'rate', retryAfterSeconds: 1 })
})

test('over ten seconds a steady sender gets ten seconds of its rate and the burst', () => {
  const meter = new ClientMeter({ requestsPerSecond: 100, eventsPerMonth: null }, T)
  let taken = 0
  for (let at = T; at < T + 10_000; at++) taken += takeMany(meter, 1, at)
  assert.ok(taken >= 1_000 && taken <= 1_100, `${taken}`)
})

test('a clock that jumps back neither blocks nor opens the gate', () => {
  const meter = new ClientMeter({ requestsPerSecond: 10, eventsPerMonth: null }, T)
  assert.equal(takeMany(meter, 40, T - 3_600_000), 10)
  assert.equal(takeMany(meter, 40, T - 3_600_000 + 1_000), 10)
})

test('a client without limits is never refused', () => {
  const meter = new ClientMeter(UNLIMITED, T)
  assert.equal(takeMany(meter, 10_000, T), 10_000)
  assert.equal(meter.takeEvents(Number.MAX_SAFE_INTEGER, T), undefined)
})

test('the request that would go over the quota is refused until the month ends, a smaller one passes', () => {
  const meter = new ClientMeter({ requestsPerSecond: null, eventsPerMonth: 120 }, T)
  assert.equal(meter.takeEvents(100, T), undefined)
  const secondsLeft = (Date.parse('2026-12-01T00:00:00Z') - T) / 1_000
  assert.deepEqual(meter.takeEvents(50, T), { limit: 'quota', retryAfterSeconds: secondsLeft })
  assert.equal(meter.takeEvents(20, T), undefined)
  assert.deepEqual(meter.takeRequest(T), { limit: 'quota', retryAfterSeconds: secondsLeft })
})

test('the quota starts over with the UTC month', () => {
  const meter = new ClientMeter({ requestsPerSecond: null, eventsPerMonth: 10 }, T)
  meter.setUsage(10, T)
  assert.notEqual(meter.takeRequest(T), undefined)
  const december = Date.parse('2026-12-01T00:00:00.000Z')
  assert.equal(meter.takeRequest(december), undefined)
  assert.equal(meter.takeEvents(10, december), undefined)
})

const NOVEMBER_ENDS = Date.parse('2026-12-01T00:00:00.000Z')

test('a quota that is used up stays so when the clock crosses the end of the month and comes back', () => {
  const meter = new ClientMeter({ requestsPerSecond: null, eventsPerMonth: 10 }, T)
  assert.equal(meter.takeEvents(10, T), undefined)
  assert.equal(meter.takeEvents(4, NOVEMBER_ENDS), undefined)
  assert.notEqual(meter.takeRequest(NOVEMBER_ENDS - 1), undefined)
  assert.notEqual(meter.takeEvents(1, NOVEMBER_ENDS - 1), undefined)
  assert.equal(meter.takeEvents(6, NOVEMBER_ENDS), undefined)
  assert.notEqual(meter.takeEvents(1, NOVEMBER_ENDS), undefined)
})

test('events that are given back after the end of the month are those of the month they were taken in', () => {
  const meter = new ClientMeter({ requestsPerSecond: null, eventsPerMonth: 10 }, T)
  assert.equal(meter.takeEvents(10, NOVEMBER_ENDS - 1), undefined)
  assert.equal(meter.takeEvents(10, NOVEMBER_ENDS), undefined)
  meter.giveBackEvents(10, NOVEMBER_ENDS - 1)
  assert.notEqual(meter.takeEvents(1, NOVEMBER_ENDS), undefined)
  assert.equal(meter.takeEvents(10, NOVEMBER_ENDS - 1), undefined)
})

test('events of a commit that failed are given back', () => {
  const meter = new ClientMeter({ requestsPerSecond: null, eventsPerMonth: 10 }, T)
  assert.equal(meter.takeEvents(10, T), undefined)
  meter.giveBackEvents(10, T)
  assert.equal(meter.takeEvents(10, T), undefined)
})

test('new limits hold at once, without a free burst on a smaller plan', () => {
  const meter = new ClientMeter({ requestsPerSecond: 100, eventsPerMonth: null }, T)
  takeMany(meter, 95, T)
  meter.setLimits({ requestsPerSecond: 10, eventsPerMonth: null })
  assert.equal(takeMany(meter, 40, T), 5)
  meter.setLimits(UNLIMITED)
  assert.equal(takeMany(meter, 40, T), 40)
  meter.setLimits({ requestsPerSecond: 10, eventsPerMonth: null })
  assert.equal(takeMany(meter, 40, T), 10)
})

test('a share fills as much slower and holds as much less, and what it was before hands out nothing', () => {
  const meter = new ClientMeter({ requestsPerSecond: 100, eventsPerMonth: null }, T)
  meter.setShare(0.25)
  assert.equal(takeMany(meter, 400, T), 25)
  assert.equal(takeMany(meter, 400, T + 1_000), 25)
  meter.setShare(1)
  assert.equal(takeMany(meter, 400, T + 1_000), 0)
  assert.equal(takeMany(meter, 400, T + 1_500), 50)
  meter.setLimits({ requestsPerSecond: 10, eventsPerMonth: null })
  assert.equal(takeMany(meter, 400, T + 60_000), 10)
})

test('a share of less than one request in a second lets one through now and then, and none lets none through', () => {
  const meter = new ClientMeter({ requestsPerSecond: 1, eventsPerMonth: null }, T)
  meter.setShare(0.25)
  assert.equal(takeMany(meter, 5, T), 1)
  assert.equal(takeMany(meter, 5, T + 3_900), 0)
  assert.equal(takeMany(meter, 5, T + 4_000), 1)
  meter.setShare(0)
  assert.equal(takeMany(meter, 5, T + 3_600_000), 0)
  assert.deepEqual(meter.takeRequest(T + 3_600_000), { limit: 'rate', retryAfterSeconds: 1 })
})

test('arrivals are counted when they are refused, and not when the rate is not asked', () => {
  const meter = new ClientMeter({ requestsPerSecond: 10, eventsPerMonth: 5 }, T)
  takeMany(meter, 40, T)
  assert.equal(meter.takeArrivals(), 40)
  assert.equal(meter.takeArrivals(), 0)
  meter.takeEvents(5, T)
  takeMany(meter, 40, T)
  assert.equal(meter.takeArrivals(), 0)
})

test('what the store has counted replaces what was known, plus what it cannot include yet', () => {
  const meter = new ClientMeter({ requestsPerSecond: null, eventsPerMonth: 1_000 }, T)
  meter.takeEvents(10, T)
  meter.settleEvents(10, T)
  meter.takeEvents(5, T)
  const snapshot = meter.snapshotUsage(T)
  meter.takeEvents(3, T)
  meter.correctUsage(100, snapshot)
  assert.equal(meter.snapshotUsage(T).events, 108)
})
