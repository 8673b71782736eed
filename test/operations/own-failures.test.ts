import assert from 'node:assert/strict'
import { test } from 'node:test'
import { HOUR, MINUTE, SECOND } from '../../src/lib/index.ts'
import {
  type KnownFailure,
  type NodeHealth,
  type OwnFailure,
  ownFailuresIn,
  review,
} from '../../src/operations/self-watch.ts'

const NOW = Date.parse('2026-11-20T10:00:00Z')
const WELL: NodeHealth = {
  loops: [],
  writeTrouble: null,
  clockDoubt: null,
  connectionDoubt: null,
  failingChannels: null,
}
const loop = (intervalMs: number, lagMs: number) => ({ name: 'fold', intervalMs, lagMs: () => lagMs })

const CASES: readonly [title: string, health: Partial<NodeHealth>, parts: string[], message?: string][] = [
  ['nothing', {}, []],
  ['a loop on time', { loops: [loop(SECOND, 0)] }, []],
  ['a loop two minutes late', { loops: [loop(SECOND, 2 * MINUTE)] }, []],
  [
    'a loop later than that',
    { loops: [loop(SECOND, 2 * MINUTE + 1)] },
    ['loop:fold'],
    'The background job “fold” is stuck or slow',
  ],
  ['a slow loop five intervals late', { loops: [loop(HOUR, 5 * HOUR)] }, []],
  ['a slow loop later than that', { loops: [loop(HOUR, 5 * HOUR + 1)] }, ['loop:fold']],
  ['a store that fails', { writeTrouble: 'disk full' }, ['store'], 'The store accepts no writes: disk full'],
  ['a clock in doubt', { clockDoubt: 'the clock was set' }, ['clock'], 'the clock was set'],
  ['a connection that is away', { connectionDoubt: 'no connection' }, ['connection'], 'no connection'],
  ['no failing channel', { failingChannels: [] }, []],
  [
    'failing channels',
    {
      failingChannels: [
        { words: 'chat of ACME: 500', since: NOW - HOUR },
        { words: 'e-mail of ACME: timeout', since: NOW - 15 * MINUTE },
      ],
    },
    ['deliveries'],
    'Messages do not get through: chat of ACME: 500 (and 1 more)',
  ],
  [
    'all at once',
    { loops: [loop(SECOND, HOUR)], writeTrouble: 'x', failingChannels: [{ words: 'y', since: NOW }] },
    ['store', 'loop:fold', 'deliveries'],
  ],
]
for (const [title, health, parts, message] of CASES) {
  test(`${title}: ${parts.length === 0 ? 'no failure' : parts.join(', ')}`, () => {
    const found = ownFailuresIn({ ...WELL, ...health }, NOW)
    assert.deepEqual(
      found.map(({ part }) => part),
      parts,
    )
    if (message !== undefined) assert.equal(found[0]?.message, message)
  })
}

const STORE: OwnFailure = { part: 'store', message: 'disk full' }
const known = (agoMs: number, isNotified: boolean, isDue = isNotified): KnownFailure => ({
  ...STORE,
  since: NOW - agoMs,
  foundAt: NOW - agoMs,
  isNotified,
  isDue,
})
const REVIEWS: readonly [title: string, before: KnownFailure[], found: OwnFailure[], begun: number, ended: number][] = [
  ['what has just begun does not notify yet', [], [STORE], 0, 0],
  ['what has lasted for a minute notifies', [known(MINUTE, false)], [STORE], 1, 0],
  ['what has notified does not notify again', [known(HOUR, true)], [STORE], 0, 0],
  ['what is over before it notified never notifies', [known(MINUTE, false)], [], 0, 0],
  ['what was due and did not get through notifies of its end', [known(HOUR, false, true)], [], 0, 1],
  ['what has notified also notifies of its end', [known(HOUR, true)], [], 0, 1],
]
for (const [title, before, found, begun, ended] of REVIEWS) {
  test(title, () => {
    const seen = review(before, found, NOW)
    assert.deepEqual([seen.begun.length, seen.ended.length, seen.known.length], [begun, ended, found.length])
    if (before[0] !== undefined && found.length > 0) assert.equal(seen.known[0]?.since, before[0].since)
  })
}

test('a failure that is found late is dated from when it began, and still waits for a minute', () => {
  const hang = { part: 'loop:fold', message: 'x', began: NOW - HOUR }
  const [first] = review([], [hang], NOW).known
  assert.deepEqual([first?.since, first?.isDue], [NOW - HOUR, false])
  const late = ownFailuresIn({ ...WELL, loops: [loop(SECOND, HOUR)] }, NOW)
  const channel = ownFailuresIn({ ...WELL, failingChannels: [{ words: 'y', since: NOW - 2 * HOUR }] }, NOW)
  assert.deepEqual([late[0]?.began, channel[0]?.began], [NOW - HOUR, NOW - 2 * HOUR])
})
