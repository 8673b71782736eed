import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { Leases } from '../../src/cluster/index.ts'
import { Loop, MINUTE, SECOND, unlessAborted } from '../../src/lib/index.ts'
import type { SendOrder, SendOutcome } from '../../src/notifications/index.ts'
import { SelfWatch } from '../../src/operations/index.ts'
import type { OutboundRequest } from '../../src/outbound/index.ts'
import type { Store } from '../../src/store/index.ts'
import { TestClock } from '../../testkit/clock.ts'
import { testLogic, testOnEveryEngine } from '../../testkit/engines.ts'
import { insertClient } from '../../testkit/sites.ts'
import { until } from '../../testkit/until.ts'
import { asShared, joinNode } from '../cluster/support.ts'

const NOW = Date.parse('2026-11-20T10:00:00Z')

const FAILING = {
  channel: 'global',
  address: 'https://hooks.example/all',
  next_attempt_at: 0,
  failures: 9,
  last_error: 'it answers 500',
  failing_since: NOW - 15 * MINUTE,
}

interface Watched {
  clock: TestClock
  /** One check, and what it sent and asked. */
  check: (afterMs: number) => Promise<void>
  sent: string[]
  beats: string[]
  /** Ends the watch as the service does when it stops. */
  stop: () => Promise<void>
  fails: {
    writeTrouble: string | null
    clockDoubt: string | null
    connectionDoubt: string | null
    sending: boolean
    /** Nothing that is asked outside ever answers. */
    isMute: boolean
    reading: boolean
  }
}

async function openWatch(t: TestContext, store: Store): Promise<Watched> {
  const clock = new TestClock(NOW)
  const node = await joinNode(t, store, clock)
  const sent: string[] = []
  const beats: string[] = []
  const fails: Watched['fails'] = {
    writeTrouble: null,
    clockDoubt: null,
    connectionDoubt: null,
    sending: false,
    isMute: false,
    reading: false,
  }
  const loop = new Loop({
    name: 'fold',
    clock,
    intervalMs: SECOND,
    tick: () => Promise.resolve(),
    onError: () => undefined,
  })
  const failing: Store = Object.create(store, {
    read: {
      get: () => {
        if (fails.reading) throw new Error('the store does not answer')
        return store.read
      },
    },
  })
  const watch = new SelfWatch({
    store: failing,
    clock,
    leases: new Leases({ store, clock, membership: node.membership }),
    nodeId: node.membership.nodeId,
    loops: [loop],
    outbound: {
      request: (url, request) => {
        beats.push(url)
        if (fails.isMute) return unlessAborted(signalOf(request), NEVER)
        return Promise.reject(new Error('not looked at'))
      },
      fetchBytes: () => Promise.reject(new Error('not asked')),
      resolve: () => Promise.reject(new Error('not asked')),
    },
    chat: {
      send: async ({ address, message }: SendOrder, signal): Promise<SendOutcome> => {
        if (fails.sending) return { kind: 'passing', error: 'away' }
        if (message.kind === 'own_failure' || message.kind === 'own_recovery') {
          sent.push(`${address} ${message.kind} ${message.part}: ${message.message}`)
        }
        if (fails.isMute) await unlessAborted(signal, NEVER).catch(() => undefined)
        return { kind: 'delivered' }
      },
    },
    writeTrouble: () => fails.writeTrouble,
    clockDoubt: () => fails.clockDoubt,
    connectionDoubt: () => fails.connectionDoubt,
    globalWebhook: 'https://hooks.example/all',
    heartbeatUrl: 'https://beat.example/key',
    publicUrl: () => 'http://127.0.0.1',
    onError: () => undefined,
  })
  await loop.tick()
  const check = async (afterMs: number) => {
    clock.advance(afterMs)
    if (fails.writeTrouble === null) await loop.tick()
    await watch.loop.tick()
  }
  return { clock, check, sent, beats, stop: () => watch.stop(), fails }
}

const NEVER = new Promise<never>(() => undefined)
const signalOf = (request: OutboundRequest | undefined): AbortSignal => request?.signal ?? new AbortController().signal

testLogic('a store that fails for a minute notifies once, and so does its recovery', async (store, t) => {
  const { check, sent, fails } = await openWatch(t, store)
  fails.writeTrouble = 'disk full'
  await check(10 * SECOND)
  await check(50 * SECOND)
  assert.deepEqual(sent, [])
  await check(10 * SECOND)
  await check(10 * SECOND)
  const begun = 'https://hooks.example/all own_failure store: The store accepts no writes: disk full'
  assert.deepEqual(sent, [begun])
  fails.writeTrouble = null
  await check(10 * SECOND)
  await check(10 * SECOND)
  const ended = 'https://hooks.example/all own_recovery store: The store accepts no writes: disk full'
  assert.deepEqual(sent, [begun, ended])
})

testLogic('what could not be sent is sent with the next check', async (store, t) => {
  const { check, sent, fails } = await openWatch(t, store)
  fails.writeTrouble = 'disk full'
  fails.sending = true
  await check(10 * SECOND)
  await check(MINUTE)
  fails.sending = false
  await check(10 * SECOND)
  assert.equal(sent.length, 1)
  fails.sending = true
  fails.writeTrouble = null
  await check(10 * SECOND)
  fails.sending = false
  await check(10 * SECOND)
  await check(10 * SECOND)
  assert.equal(sent.length, 2)
})

testOnEveryEngine('the heartbeat is asked each minute, while all is well', async (store, t) => {
  const { check, beats, fails } = await openWatch(t, store)
  await check(0)
  await check(59 * SECOND)
  assert.equal(beats.length, 1)
  await check(SECOND)
  assert.deepEqual(beats, ['https://beat.example/key', 'https://beat.example/key'])
  fails.writeTrouble = 'disk full'
  await check(MINUTE)
  await check(MINUTE)
  assert.equal(beats.length, 2)
  fails.writeTrouble = null
  await check(MINUTE)
  assert.equal(beats.length, 3)
})

testLogic(
  'a service that stops does not wait for an answer to its heartbeat or to a message about itself',
  async (store, t) => {
    const beating = await openWatch(t, store)
    beating.fails.isMute = true
    const beat = beating.check(0)
    await until('the heartbeat is asked', () => beating.beats[0])
    await beating.stop()
    await beat

    const sending = await openWatch(t, store)
    sending.fails.writeTrouble = 'disk full'
    await sending.check(0)
    sending.fails.isMute = true
    const sent = sending.check(MINUTE)
    await until('the message is sent', () => sending.sent[0])
    await sending.stop()
    await sent
  },
)

testOnEveryEngine('channels that fail for a quarter of an hour are named, and the heart beats on', async (store, t) => {
  const { check, sent, beats } = await openWatch(t, store)
  const client = await insertClient(store, { chat_webhook: 'https://chat.example/new' })
  const chat = { ...FAILING, channel: `chat:${client.id}`, address: 'https://chat.example/new' }
  const younger = { ...chat, failing_since: NOW - 14 * MINUTE }
  // Nothing waits there any more that would show that it was edited.
  const edited = { ...FAILING, channel: `email:${client.id}`, failing_since: NOW - 20 * MINUTE }
  await store.write.insertInto('channels').values([FAILING, younger, edited]).execute()
  await check(0)
  assert.equal(beats.length, 1)
  await check(MINUTE)
  assert.deepEqual(sent, [
    'https://hooks.example/all own_failure deliveries: Messages do not get through: the webhook for all clients: it answers 500 (and 1 more)',
  ])
  assert.equal(beats.length, 2)
})

testLogic('while the store cannot be read no one is notified that messages are delivered again', async (store, t) => {
  const { check, sent, fails } = await openWatch(t, store)
  await store.write.insertInto('channels').values(FAILING).execute()
  await check(0)
  await check(MINUTE)
  assert.equal(sent.length, 1)
  fails.reading = true
  await check(10 * SECOND)
  fails.reading = false
  await check(10 * SECOND)
  await check(MINUTE)
  assert.equal(sent.length, 1, sent.at(-1))
  await store.write.updateTable('channels').set({ failing_since: null }).execute()
  await check(10 * SECOND)
  assert.match(sent.at(-1) ?? '', /own_recovery deliveries/)
})

testLogic('nor where another node watches from now on', async (store, t) => {
  const { check, sent, clock } = await openWatch(t, store)
  await store.write.insertInto('channels').values(FAILING).execute()
  await check(0)
  await check(MINUTE)
  const { membership } = await joinNode(t, asShared(store), clock)
  const taken = { node_id: membership.nodeId }
  await store.write.updateTable('leases').set(taken).where('name', '=', 'delivery-watch').execute()
  await check(10 * SECOND)
  assert.equal(sent.length, 1, sent.at(-1))
})

testOnEveryEngine('a clock in doubt for a minute notifies, and heartbeats go on', async (store, t) => {
  const { check, sent, beats, fails } = await openWatch(t, store)
  fails.clockDoubt = 'The clock was set 405 days ahead'
  await check(0)
  await check(MINUTE)
  assert.deepEqual(sent, ['https://hooks.example/all own_failure clock: The clock was set 405 days ahead'])
  assert.equal(beats.length, 2)
  fails.clockDoubt = null
  await check(MINUTE)
  assert.match(sent[1] ?? '', /own_recovery clock/)
})

testLogic('a connection that is away notifies once it is back, as nothing gets out before', async (store, t) => {
  const { check, sent, fails } = await openWatch(t, store)
  fails.connectionDoubt = 'This node has no connection'
  fails.sending = true
  await check(0)
  await check(MINUTE)
  await check(10 * MINUTE)
  fails.connectionDoubt = null
  await check(10 * SECOND)
  assert.deepEqual(sent, [])
  fails.sending = false
  await check(10 * SECOND)
  await check(10 * SECOND)
  assert.deepEqual(sent, ['https://hooks.example/all own_recovery connection: This node has no connection'])
})

testLogic('a connection that is away for seconds is worth no message', async (store, t) => {
  const { check, sent, fails } = await openWatch(t, store)
  fails.connectionDoubt = 'This node has no connection'
  await check(0)
  await check(50 * SECOND)
  fails.connectionDoubt = null
  await check(10 * SECOND)
  assert.deepEqual(sent, [])
})
