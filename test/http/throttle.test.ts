import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  callerOf,
  createThrottle,
  delayAfter,
  type FailureRecord,
  type Guesser,
  type Throttle,
  waitOf,
  withFailure,
} from '../../src/http/access/throttle.ts'
import { TestClock } from '../../testkit/clock.ts'

const ROLES = ['admin', 'viewer', null] as const

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
  [{ failures: 6, lastFailureAt: 50_000 }, 60_000, 0],
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

const CALLERS: [address: string | undefined, caller: string][] = [
  ['203.0.113.9', '203.0.113.9'],
  ['::ffff:203.0.113.9', '203.0.113.9'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:DB8:1:2::9', '2001:db8:1:2::/64'],
  ['2001:db8::9', '2001:db8:0:0::/64'],
  ['2001:0db8:0:0:ffff::', '2001:db8:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['203.0.113.9:50123', '203.0.113.9'],
  ['[2001:db8:1:2::9]:50123', '2001:db8:1:2::/64'],
  ['[2001:db8:1:2::9]', '2001:db8:1:2::/64'],
  ['unknown', 'unknown'],
  [undefined, ''],
]
for (const [address, caller] of CALLERS) {
  test(`${address ?? 'an unknown address'} counts as ${caller}`, () => assert.equal(callerOf(address), caller))
}

const from = (address: string): Guesser => ({ address, isByOwnName: true })
const HERE = from('203.0.113.9')

const failOften = (throttle: Throttle, guesser: Guesser) => {
  for (let count = 0; count < 5; count++) throttle.failed(guesser)
}

test('an address waits for its own failures only, and no longer after a success', () => {
  const clock = new TestClock(0)
  const throttle = createThrottle(clock)
  failOften(throttle, HERE)
  for (const role of ROLES) assert.equal(throttle.wait(HERE, role), 1_000)
  assert.equal(throttle.wait(from('203.0.113.10'), null), 0)
  clock.advance(1_000)
  assert.equal(throttle.wait(HERE, 'admin'), 0)
  throttle.succeeded(HERE, 'admin')
  throttle.failed(HERE)
  for (const role of ROLES) assert.equal(throttle.wait(HERE, role), 0)
})

test("a viewer's success forgives nothing to who guesses the admin's token, and a wrong token waits like that one", () => {
  const throttle = createThrottle(new TestClock(0))
  for (let count = 0; count < 5; count++) {
    throttle.failed(HERE)
    throttle.succeeded(HERE, 'viewer')
  }
  assert.deepEqual(
    ROLES.map((role) => throttle.wait(HERE, role)),
    [1_000, 0, 1_000],
  )
})

test("guesses at the viewer's token count while the admin's has to wait", () => {
  const throttle = createThrottle(new TestClock(0))
  failOften(throttle, HERE)
  throttle.succeeded(HERE, 'viewer')
  failOften(throttle, HERE)
  assert.deepEqual(
    ROLES.map((role) => throttle.wait(HERE, role)),
    [1_000, 1_000, 1_000],
  )
})

test('guesses by a name that is not ours leave those who use ours alone, and wait too', () => {
  const throttle = createThrottle(new TestClock(0))
  const rebound = { ...HERE, isByOwnName: false }
  failOften(throttle, rebound)
  assert.equal(throttle.wait(HERE, 'admin'), 0)
  assert.equal(throttle.wait(rebound, 'admin'), 1_000)
})

test('the right password ends the wait that guesses from elsewhere brought its account', () => {
  const throttle = createThrottle(new TestClock(0))
  const email = 'ada@agency.example'
  for (let count = 0; count < 5; count++) throttle.passwordTried(from(`198.51.100.${count}`), email)
  assert.equal(throttle.waitForPassword(HERE, email), 1_000)
  assert.equal(throttle.waitForPassword(HERE, ' Ada@Agency.example'), 1_000)
  throttle.passwordRight(HERE, email)
  assert.equal(throttle.waitForPassword(from('203.0.113.10'), email), 0)
})

test('an address that tries passwords of many accounts waits at the next one, even at one it has signed in to', () => {
  const throttle = createThrottle(new TestClock(0))
  throttle.passwordRight(HERE, 'ada@agency.example')
  for (let count = 0; count < 5; count++) throttle.passwordTried(HERE, `${count}@agency.example`)
  for (const name of ['ada', 'bob']) assert.equal(throttle.waitForPassword(HERE, `${name}@agency.example`), 1_000)
  assert.equal(throttle.waitForPassword(from('203.0.113.10'), 'bob@agency.example'), 0)
  throttle.passwordRight(HERE, 'ada@agency.example')
  assert.equal(throttle.waitForPassword(HERE, 'bob@agency.example'), 0)
})

test('passwords that could not be compared count no longer, and leave the guesses before them', async () => {
  const throttle = createThrottle(new TestClock(0))
  const busy = () =>
    throttle.tryPassword(HERE, 'ada@agency.example', async () => {
      throw new Error('too busy')
    })
  for (let count = 0; count < 9; count++) await assert.rejects(busy(), /too busy/)
  for (let count = 0; count < 4; count++) {
    assert.equal(throttle.waitForPassword(HERE, 'ada@agency.example'), 0)
    throttle.passwordTried(HERE, 'ada@agency.example')
    await assert.rejects(busy(), /too busy/)
  }
  throttle.passwordTried(HERE, 'ada@agency.example')
  assert.equal(throttle.waitForPassword(HERE, 'ada@agency.example'), 1_000)
})

test('attempts that were forgiven before they are taken back leave no guesses for free', async () => {
  const throttle = createThrottle(new TestClock(0))
  const email = 'ada@agency.example'
  const { promise, reject } = Promise.withResolvers<never>()
  const begun = Array.from({ length: 3 }, () => throttle.tryPassword(HERE, email, () => promise))
  throttle.passwordRight(HERE, email)
  throttle.passwordTried(HERE, email)
  reject(new Error('too busy'))
  await Promise.allSettled(begun)
  for (let count = 0; count < 5; count++) throttle.passwordTried(HERE, email)
  assert.equal(throttle.waitForPassword(HERE, email), 1_000)
})

test('a bounded number of addresses is remembered: the one longest without a failure is forgotten', () => {
  const clock = new TestClock(0)
  const throttle = createThrottle(clock, 2)
  failOften(throttle, from('a'))
  failOften(throttle, from('b'))
  clock.advance(1_000)
  throttle.failed(from('a'))
  throttle.failed(from('c'))
  assert.equal(throttle.wait(from('a'), null), 2_000)
  throttle.failed(from('b'))
  assert.equal(throttle.wait(from('b'), null), 0)
})

test('a clock that is set back keeps out no one who has mistyped', () => {
  let now = 3_600_000
  const throttle = createThrottle({ now: () => now, monotonic: () => 0 })
  const guesser = { address: '10.0.0.1', isByOwnName: true }
  throttle.failed(guesser)
  throttle.passwordTried(guesser, 'ada@agency.example')
  now = 0
  assert.deepEqual([throttle.wait(guesser, 'admin'), throttle.waitForPassword(guesser, 'ada@agency.example')], [0, 0])
})
