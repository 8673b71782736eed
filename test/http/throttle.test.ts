import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  callerOf,
  createThrottle,
  delayAfter,
  type FailureRecord,
  waitOf,
  withFailure,
} from '../../src/http/access/throttle.ts'
import { TestClock } from '../support/clock.ts'

const DELAYS: [failures: number, delayMs: number][] = [
  [0, 0],
  [1, 0],
  [4, 0],
  [5, 1_000],
  [6, 2_000],
  [7, 4_000],
  [8, 8_000],
  [9, 16_000],
  [10, 30_000],
  [11, 30_000],
  [10_000, 30_000],
]
for (const [failures, delayMs] of DELAYS) {
  test(`${failures} failures in a row cost ${delayMs} ms`, () => assert.equal(delayAfter(failures), delayMs))
}

const WAITS: [record: FailureRecord | undefined, now: number, waitMs: number][] = [
  [undefined, 50_000, 0],
  [{ failures: 4, lastFailureAt: 50_000 }, 50_000, 0],
  [{ failures: 6, lastFailureAt: 50_000 }, 50_000, 2_000],
  [{ failures: 6, lastFailureAt: 50_000 }, 51_999, 1],
  [{ failures: 6, lastFailureAt: 50_000 }, 52_000, 0],
]
for (const [record, now, waitMs] of WAITS) {
  test(`with ${record?.failures ?? 'no'} failures, ${now - 50_000} ms after the last, ${waitMs} ms are left`, () => {
    assert.equal(waitOf(record, now), waitMs)
  })
}

test('failures add up, until there was none for 15 minutes', () => {
  const two = withFailure(withFailure(undefined, 0), 900_000)
  assert.deepEqual(two, { failures: 2, lastFailureAt: 900_000 })
  assert.deepEqual(withFailure(two, 1_800_001), { failures: 1, lastFailureAt: 1_800_001 })
})

const CALLERS: [address: string, caller: string][] = [
  ['203.0.113.9', '203.0.113.9'],
  ['::ffff:203.0.113.9', '203.0.113.9'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:DB8:1:2::9', '2001:db8:1:2::/64'],
  ['2001:db8::9', '2001:db8:0:0::/64'],
  ['2001:0db8:0:0:ffff::', '2001:db8:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
]
for (const [address, caller] of CALLERS) {
  test(`${address} counts as ${caller}`, () => assert.equal(callerOf(address), caller))
}

const failOften = (throttle: ReturnType<typeof createThrottle>, address: string) => {
  for (let count = 0; count < 5; count++) throttle.failed(address)
}

test('an address waits for its own failures only, and no longer after a success', () => {
  const clock = new TestClock(0)
  const throttle = createThrottle(clock)
  failOften(throttle, '203.0.113.9')
  assert.equal(throttle.wait('203.0.113.9'), 1_000)
  assert.equal(throttle.wait('203.0.113.10'), 0)
  clock.advance(1_000)
  assert.equal(throttle.wait('203.0.113.9'), 0)
  throttle.succeeded('203.0.113.9')
  throttle.failed('203.0.113.9')
  assert.equal(throttle.wait('203.0.113.9'), 0)
})

test('a bounded number of addresses is remembered: the one longest without a failure is forgotten', () => {
  const throttle = createThrottle(new TestClock(0), 2)
  failOften(throttle, 'a')
  failOften(throttle, 'b')
  throttle.failed('a')
  throttle.failed('c')
  assert.equal(throttle.wait('a'), 2_000)
  assert.equal(throttle.wait('b'), 0)
})
