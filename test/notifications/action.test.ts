import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DAY } from '../../src/lib/index.ts'
import { UNTRIED } from '../../src/notifications/channel.ts'
import {
  type Action,
  actionFor,
  backoffMs,
  type ChannelSnapshot,
  OUTAGE_MS,
  type QueuedMessage,
} from '../../src/notifications/delivery/schedule.ts'

const T = 1_000_000
const HELD_MS = backoffMs(1, undefined, 0)

const row = (over: Partial<QueuedMessage> = {}): QueuedMessage => ({
  id: '1',
  clientId: 'c',
  alertId: 'A',
  kind: 'reminder',
  createdAt: T,
  notBefore: T,
  groupId: null,
  ...over,
})

function snapshot(over: Partial<ChannelSnapshot>, health: Partial<ChannelSnapshot['channel']> = {}): ChannelSnapshot {
  return {
    channel: { channel: 'chat:c', address: 'here', claimed_by: null, claimed_at: null, ...UNTRIED, ...health },
    address: 'here',
    waiting: [row()],
    clientIds: new Set(['c']),
    unannounced: [],
    ...over,
  }
}

const CASES: readonly [title: string, snapshot: ChannelSnapshot, expected: Action][] = [
  ['sends what is due', snapshot({}), { kind: 'send', row: row() }],
  [
    'has nothing to do without messages, wherever it leads',
    snapshot({ waiting: [], address: null }),
    { kind: 'rest', until: null },
  ],
  ['waits for its next attempt', snapshot({}, { next_attempt_at: T + HELD_MS }), { kind: 'pause', until: T + HELD_MS }],
  [
    'sends what is due although its next attempt was set by a clock that was ahead',
    snapshot({}, { next_attempt_at: T + 400 * DAY }),
    { kind: 'send', row: row() },
  ],
  [
    'sends what was written while the clock was ahead',
    snapshot({ waiting: [row({ createdAt: T + 400 * DAY, notBefore: T + 400 * DAY })] }),
    { kind: 'send', row: row({ createdAt: T - OUTAGE_MS }) },
  ],
  [
    'rests, rather than waits for itself, while its messages are held back',
    snapshot({ waiting: [row({ notBefore: T + 5 })] }, { next_attempt_at: T + 1 }),
    { kind: 'rest', until: T + 5 },
  ],
  ['does nothing while it is off', snapshot({}, { off_since: T - 1 }), { kind: 'rest', until: null }],
  [
    'is as good as new when its address was edited, however it did before',
    snapshot({ address: 'there' }, { off_since: T - 1, next_attempt_at: T + HELD_MS }),
    { kind: 'renew', address: 'there' },
  ],
  [
    'cancels everything when it leads nowhere any more',
    snapshot({ address: null, waiting: [row(), row({ id: '2' })] }),
    { kind: 'cancel', ids: ['1', '2'], reason: 'the channel no longer has an address' },
  ],
  [
    'does not send what was over before it was due, once that is certain',
    snapshot({ waiting: [row({ kind: 'passed' }), row({ id: '2', alertId: 'B', kind: 'passed', notBefore: T + 5 })] }),
    { kind: 'cancel', ids: ['1'], reason: 'it was over before a notification was due', of: ['passed'] },
  ],
  [
    'waits until that is certain',
    snapshot({ waiting: [row({ kind: 'passed', notBefore: T + 5 })] }),
    { kind: 'rest', until: T + 5 },
  ],
  [
    'cancels what is about clients that are gone, while it is off too',
    snapshot(
      { waiting: [row(), row({ id: '2', clientId: 'gone' }), row({ id: '3', clientId: null })] },
      { off_since: T },
    ),
    { kind: 'cancel', ids: ['2'], reason: 'the client or the channel was deleted or is not active' },
  ],
]

for (const [title, seen, expected] of CASES) {
  test(`a channel ${title}`, () => assert.deepEqual(actionFor(seen, T), expected))
}
