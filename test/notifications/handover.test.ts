import assert from 'node:assert/strict'
import { DEAD_AFTER_MS } from '../../src/cluster/index.ts'
import { MINUTE, newOrderedId, SECOND } from '../../src/lib/index.ts'
import { ownKey } from '../../src/notifications/channel.ts'
import { enqueue, type SendOutcome } from '../../src/notifications/index.ts'
import { StoreError } from '../../src/store/index.ts'
import { NOW, newClock } from '../../testkit/clock.ts'
import { testLogic, testOnEveryEngine } from '../../testkit/engines.ts'
import { until } from '../../testkit/until.ts'
import { asShared } from '../cluster/support.ts'
import {
  alertMessage,
  channelRow,
  DELIVERED,
  deliveries,
  enqueueMessages,
  insertClient,
  openNode,
  statesOf,
  textsOf,
} from './support.ts'

testOnEveryEngine('of many nodes one at a time sends on a channel', async (store, t) => {
  const clock = newClock()
  const clients = await Promise.all(Array.from({ length: 5 }, () => insertClient(store)))
  for (const client of clients) {
    for (let n = 0; n < 8; n++) await enqueueMessages(store, client, [`reminder ${n}`], NOW + 31 * SECOND * n)
  }
  // So far apart that each is a message of its own.
  clock.advance(8 * 31 * SECOND)
  let busy = 0
  let most = 0
  const onChannel = new Set<string>()
  const send = async ({ message }: { message: { client?: { id: string } } | object }) => {
    const id = 'client' in message ? String(message.client?.id) : ''
    assert.ok(!onChannel.has(id), 'two nodes send on a channel')
    onChannel.add(id)
    most = Math.max(most, ++busy)
    // The first waits for company, which a busy machine may be slow to bring.
    for (let turns = 0; turns === 0 || (most < 2 && turns < 100_000); turns++) {
      await new Promise((resolve) => setImmediate(resolve))
    }
    busy--
    onChannel.delete(id)
    return DELIVERED
  }
  const nodes = await Promise.all(Array.from({ length: 3 }, () => openNode(t, store, clock, send)))
  await until('all is sent', async () => {
    await Promise.all(nodes.map((node) => node.notifications.run()))
    return (await statesOf(store)).every((state) => state === 'delivered') || undefined
  })
  const sent = nodes.flatMap((node) => node.sent)
  assert.equal(sent.length, 40)
  assert.equal(new Set(sent.map(({ key }) => key)).size, 40)
  assert.ok(most > 1, 'channels go side by side')
  // On a busy machine a round of one may have to wait too long for a connection.
  const isOfHaste = (error: string) => error.includes('all connections were in use')
  assert.deepEqual(
    nodes.flatMap(({ errors }) => errors).filter((error) => !isOfHaste(error)),
    [],
  )
})

testOnEveryEngine("a dead node's channel is taken over, and the same is said under the same key", async (store, t) => {
  const clock = newClock()
  const client = await insertClient(store)
  const hangs = Promise.withResolvers<SendOutcome>()
  const dying = await openNode(t, store, clock, () => hangs.promise)
  await enqueueMessages(store, client, ['opened A', 'opened B', 'opened C'], NOW)
  clock.advance(30 * SECOND)
  await dying.membership.beat()
  const run = dying.notifications.run()
  await until('it sends', () => dying.sent.length === 1 || undefined)
  const other = await openNode(t, store, clock)
  // Comes too late to go with the others, which were written down as one.
  await enqueueMessages(store, client, ['opened D'], NOW + 25 * SECOND)
  clock.advance(DEAD_AFTER_MS - 1)
  await other.membership.beat()
  await other.notifications.run()
  assert.deepEqual(textsOf(other), [])
  clock.advance(SECOND)
  await other.notifications.run()
  assert.deepEqual(textsOf(other), ['opened A+B+C', 'opened D'])
  assert.equal(other.sent[0]?.key, dying.sent[0]?.key)
  hangs.resolve({ kind: 'passing', error: 'too late' })
  await run
  assert.deepEqual(await statesOf(store), Array(4).fill('delivered'))
  assert.equal((await channelRow(store, `chat:${client.id}`)).failures, 0)
})

testOnEveryEngine(
  'while nodes get a setting one by one, those without it leave its messages to those that have it',
  async (store, t) => {
    const clock = newClock()
    const shared = asShared(store)
    const client = await insertClient(store, { chat_webhook: null, email: 'ops@acme.example' })
    const globalWebhook = 'https://chat.example/all'
    const old = await openNode(t, store, clock, undefined, {
      store: shared,
      transports: { chat: { send: async () => DELIVERED }, email: null },
    })
    await enqueueMessages(store, client, ['reminder A'], NOW, { globalWebhook, isEmailOn: true })
    await old.notifications.run()
    assert.deepEqual(await statesOf(store), ['pending', 'pending'])
    const restarted = await openNode(t, store, clock, undefined, { store: shared, globalWebhook })
    await restarted.notifications.run()
    assert.deepEqual(await statesOf(store), ['delivered', 'delivered'])
    await enqueueMessages(store, client, ['reminder B'], NOW, { globalWebhook, isEmailOn: true })
    clock.advance(10 * MINUTE)
    await old.membership.beat()
    await old.notifications.run()
    assert.deepEqual(await statesOf(store), ['delivered', 'delivered', 'cancelled', 'cancelled'])
  },
)

testOnEveryEngine('where only one process can use the store, its successor goes on at once', async (store, t) => {
  const clock = newClock()
  const client = await insertClient(store)
  const hangs = Promise.withResolvers<SendOutcome>()
  const killed = await openNode(t, store, clock, () => hangs.promise)
  await enqueueMessages(store, client, ['reminder A'], NOW)
  const run = killed.notifications.run()
  await until('it sends', () => killed.sent.length === 1 || undefined)
  const alone = { ...asShared(store), isShared: false }
  const next = await openNode(t, store, clock, undefined, {}, alone)
  await next.notifications.run()
  assert.deepEqual(textsOf(next), ['reminder A'])
  hangs.resolve(DELIVERED)
  await run
})

testOnEveryEngine(
  'what was sent while the store is unavailable is marked when it is back, and not sent again',
  async (store, t) => {
    const clock = newClock()
    const client = await insertClient(store)
    let isAway = false
    const flaky = {
      ...asShared(store),
      batch: (operations: Parameters<typeof store.batch>[0]) =>
        isAway ? Promise.reject(new StoreError('unavailable', 'away')) : store.batch(operations),
    }
    const send = () => {
      isAway = true
      return DELIVERED
    }
    const node = await openNode(t, flaky, clock, send, { timings: { storeRetryMs: 1 } })
    await enqueueMessages(store, client, ['reminder A'], NOW)
    const run = node.notifications.run()
    await until('it noticed', () => node.errors.length > 2 || undefined)
    isAway = false
    await run
    assert.deepEqual(await statesOf(store), ['delivered'])
    assert.equal(node.sent.length, 1)
  },
)

testLogic('a stop lets an attempt end for a moment, and what is cancelled is sent by the next', async (store, t) => {
  const clock = newClock()
  const quick = await insertClient(store)
  const slow = await insertClient(store, { chat_webhook: 'https://chat.example/slow' })
  const { promise: mayEnd, resolve: end } = Promise.withResolvers<void>()
  const node = await openNode(t, store, clock, ({ address }, signal) =>
    address.endsWith('slow')
      ? new Promise((resolve) => {
          signal.addEventListener('abort', () => resolve({ kind: 'passing', error: 'cancelled' }))
        })
      : mayEnd.then(() => DELIVERED),
  )
  await enqueueMessages(store, quick, ['reminder A', 'reminder B'], NOW)
  await enqueueMessages(store, slow, ['reminder C'], NOW)
  void node.notifications.run()
  await until('both are under way', () => node.sent.length === 2 || undefined)
  const stopped = node.notifications.stop(200)
  end()
  await stopped
  const rows = await deliveries(store)
  const slowRow = rows.find(({ client_id }) => client_id === slow.id)
  assert.deepEqual([slowRow?.state, slowRow?.attempts], ['pending', 0])
  assert.equal(rows[0]?.state, 'delivered')
  const channel = await channelRow(store, `chat:${slow.id}`)
  assert.deepEqual([channel.claimed_by, channel.failures], [null, 0])
})

testLogic('channels of one client that hang leave room for those of another', async (store, t) => {
  const hanging = await insertClient(store)
  const other = await insertClient(store, { chat_webhook: 'https://chat.example/other' })
  const own = { client_id: hanging.id, kind: 'webhook', name: 'Hook', minimum_severity: 'warning', is_active: 1 }
  const rows = Array.from({ length: 20 }, (_, n) => ({
    ...own,
    id: newOrderedId(NOW),
    address: `https://hook.example/${n}`,
    created_at: NOW,
    warnings_after_minutes: null,
  }))
  await store.write.insertInto('client_channels').values(rows).execute()
  const message = alertMessage(hanging, 'reminder', 'A')
  const entries = rows.map(({ id, address }) => ({
    channel: { key: ownKey(hanging.id, id), address },
    clientId: hanging.id,
    alertId: message.alert.id,
    message,
  }))
  await store.write.transaction().execute((trx) => enqueue(trx, entries, NOW))
  const node = await openNode(t, store, newClock(), ({ address }, signal) =>
    address.endsWith('other')
      ? DELIVERED
      : new Promise((resolve) => {
          signal.addEventListener('abort', () => resolve({ kind: 'passing', error: 'cancelled' }))
        }),
  )
  void node.notifications.run()
  await until('as many hang as may', () => node.sent.length >= 8 || undefined)
  await enqueueMessages(store, other, ['reminder B'], NOW)
  node.notifications.wake()
  await until('the other client has its message', () => textsOf(node).includes('reminder B') || undefined, 5_000)
})
