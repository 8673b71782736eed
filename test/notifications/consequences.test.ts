import assert from 'node:assert/strict'
import { test } from 'node:test'
import { HOUR, MINUTE, SECOND } from '../../src/lib/index.ts'
import { type Attempt, backoffMs, consequencesOf } from '../../src/notifications/delivery/schedule.ts'
import type { SendOutcome } from '../../src/notifications/index.ts'

const NOW = 5_000_000

test('a channel waits 10 s after its first failure, then twice as long each time up to an hour', () => {
  const cases: [failures: number, retryAfterMs: number | undefined, random: number, expected: number][] = [
    [1, undefined, 0, 10 * SECOND],
    [1, undefined, 1, 12 * SECOND],
    [2, undefined, 0, 20 * SECOND],
    [5, undefined, 0, 160 * SECOND],
    [20, undefined, 0, 50 * MINUTE],
    [1_000, undefined, 1, HOUR],
    // What the service asks for goes before, within reason.
    [2, 3 * SECOND, 1, 3 * SECOND],
    // A server that asks for a second all day is not asked 86,400 times.
    [9, 3 * SECOND, 1, 256 * SECOND],
    [1_000, 0, 1, 50 * MINUTE],
    [1, 0, 1, SECOND],
    [1, 2 * HOUR, 1, HOUR],
  ]
  for (const [failures, retryAfterMs, random, expected] of cases) {
    assert.equal(backoffMs(failures, retryAfterMs, random), expected, `${failures} ${retryAfterMs} ${random}`)
  }
})

function consequences(outcome: SendOutcome, over: Partial<Attempt> = {}) {
  return consequencesOf(outcome, {
    channel: { failures: 2, failing_since: 7 },
    rows: [{ attempts: 3, created_at: NOW - 1_000 }],
    now: NOW,
    paceMs: 500,
    backoffMs: (failures, retryAfterMs) => failures * 100 + (retryAfterMs ?? 0),
    ...over,
  })
}

const TRIED = { attempts: 4, last_attempt_at: NOW }
const WELL = { failures: 0, failing_since: null, last_error: null, off_since: null }

test('what was delivered is done, and its channel is healthy', () => {
  assert.deepEqual(consequences({ kind: 'delivered', note: 'no proof' }), {
    deliveries: { ...TRIED, state: 'delivered', delivered_at: NOW, last_error: 'no proof' },
    channel: { ...WELL, last_success_at: NOW, next_attempt_at: NOW + 500 },
    splitsGroup: false,
    goesOn: true,
  })
})

test('no message arrives before it was written, whatever the clock says', () => {
  const { deliveries } = consequences(
    { kind: 'delivered' },
    { rows: [NOW - 1_000, NOW + 87_000].map((created_at) => ({ attempts: 0, created_at })) },
  )
  assert.equal(deliveries.delivered_at, NOW + 87_000)
})

test('after a failure that passes, the message stays and the channel waits', () => {
  assert.deepEqual(consequences({ kind: 'passing', error: 'down', retryAfterMs: 11 }), {
    deliveries: { ...TRIED, last_error: 'down' },
    channel: { failures: 3, failing_since: 7, last_error: 'down', next_attempt_at: NOW + 311 },
    splitsGroup: false,
    goesOn: false,
  })
  const { channel } = consequences(
    { kind: 'passing', error: 'down' },
    { channel: { failures: 0, failing_since: null } },
  )
  assert.deepEqual([channel.failures, channel.failing_since, channel.next_attempt_at], [1, NOW, NOW + 100])
})

test('after a failure that does not pass, the message stays and the channel is off', () => {
  assert.deepEqual(consequences({ kind: 'channel_broken', error: 'gone' }), {
    deliveries: { ...TRIED, last_error: 'gone' },
    channel: { failures: 3, failing_since: 7, last_error: 'gone', off_since: NOW },
    splitsGroup: false,
    goesOn: false,
  })
})

test('a refused message has failed, and the channel goes on, and fails until it takes one', () => {
  assert.deepEqual(consequences({ kind: 'message_refused', error: 'bad' }), {
    deliveries: { ...TRIED, last_error: 'bad', state: 'failed' },
    channel: { failures: 3, failing_since: 7, last_error: 'bad', off_since: null, next_attempt_at: NOW + 500 },
    splitsGroup: false,
    goesOn: true,
  })
})

test('a refused group is tried one by one', () => {
  const rows = [3, 0].map((attempts) => ({ attempts, created_at: NOW }))
  const { deliveries, splitsGroup, goesOn } = consequences({ kind: 'message_refused', error: 'too large' }, { rows })
  assert.deepEqual([deliveries, splitsGroup, goesOn], [{ ...TRIED, last_error: 'too large' }, true, true])
})
