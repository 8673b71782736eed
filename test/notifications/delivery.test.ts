import assert from 'node:assert/strict'
import { DAY, HOUR, MINUTE, SECOND } from '../../src/lib/index.ts'
import { insertAlert } from '../../testkit/alerts.ts'
import { NOW, newClock } from '../../testkit/clock.ts'
import { testLogic, testOnEveryEngine } from '../../testkit/engines.ts'
import { insertProbe } from '../../testkit/probes.ts'
import { insertSite } from '../../testkit/sites.ts'
import { asShared } from '../cluster/support.ts'
import {
  alertId,
  channelRow,
  deliveries,
  enqueueMessages,
  insertClient,
  openNode,
  statesOf,
  textsOf,
} from './support.ts'

testOnEveryEngine('messages go out in their order, each once, and are marked', async (store, t) => {
  const clock = newClock()
  const client = await insertClient(store)
  const node = await openNode(t, store, clock)
  await enqueueMessages(store, client, ['escalated A', 'reminder B', 'reminder A'], NOW)
  await node.notifications.run()
  await node.notifications.run()
  assert.deepEqual(textsOf(node), ['escalated A', 'reminder B', 'reminder A'])
  const rows = await deliveries(store)
  assert.deepEqual(
    rows.map(({ id, state, attempts, delivered_at }) => [id, state, attempts, delivered_at]),
    node.sent.map(({ key }) => [key, 'delivered', 1, NOW]),
  )
  const channel = await channelRow(store, `chat:${client.id}`)
  assert.deepEqual([channel.claimed_by, channel.last_success_at, channel.failures], [null, NOW, 0])
  assert.deepEqual(node.errors, [])
})

testOnEveryEngine('what is written after a node whose clock is ahead goes out after its messages', async (store, t) => {
  const clock = newClock()
  const client = await insertClient(store)
  const node = await openNode(t, store, clock)
  await enqueueMessages(store, client, ['flapping A', 'reminder B'], NOW + SECOND)
  await enqueueMessages(store, client, ['acknowledged A', 'resolved A', 'resolved C'], NOW)
  clock.advance(MINUTE)
  for (let n = 0; n < 5; n++) await node.notifications.run()
  assert.deepEqual(
    textsOf(node).filter((text) => text.endsWith('A')),
    ['flapping A', 'acknowledged A', 'resolved A'],
  )
  assert.equal(node.sent.length, 5)
})

testOnEveryEngine('while nothing is to be sent, nothing is written', async (store, t) => {
  const clock = newClock()
  const client = await insertClient(store)
  let writes = 0
  const counted = {
    ...asShared(store),
    write: store.write.withPlugin({
      transformQuery({ node }) {
        if (node.kind !== 'SelectQueryNode') writes++
        return node
      },
      transformResult: async ({ result }) => result,
    }),
  }
  const node = await openNode(t, counted, clock)
  writes = 0
  await node.notifications.run()
  // Held back: neither claimed nor anything else.
  await enqueueMessages(store, client, ['opened A'], NOW)
  await node.notifications.run()
  assert.equal(writes, 0)
  clock.advance(10 * SECOND)
  await node.notifications.run()
  assert.deepEqual(textsOf(node), ['opened A'])
  assert.ok(writes > 0)
})

testLogic('an outage is one message, and what comes after it follows singly', async (store, t) => {
  const clock = newClock()
  const client = await insertClient(store)
  const node = await openNode(t, store, clock)
  await enqueueMessages(store, client, ['opened A', 'opened B'], NOW)
  clock.advance(8 * SECOND)
  await enqueueMessages(store, client, ['opened C', 'escalated A'], clock.now())
  for (let n = 0; n < 21; n++) {
    assert.deepEqual(textsOf(node), [])
    await node.notifications.run()
    clock.advance(SECOND)
  }
  clock.advance(SECOND)
  await node.notifications.run()
  assert.deepEqual(textsOf(node), ['opened A+B+C', 'escalated A'])
  const [a, b, c] = await deliveries(store)
  assert.deepEqual([a?.group_id, b?.group_id, c?.group_id], [a?.id, a?.id, a?.id])
  assert.equal(node.sent[0]?.key, a?.id)
})

testOnEveryEngine(
  'two alerts go one by one, and as one message when a third went out a moment ago',
  async (store, t) => {
    const clock = newClock()
    const client = await insertClient(store)
    const node = await openNode(t, store, clock)
    const sendAt = async (seconds: number) => {
      clock.set(NOW + seconds * SECOND)
      await node.notifications.run()
    }
    await enqueueMessages(store, client, ['opened A'], NOW)
    await sendAt(10)
    await enqueueMessages(store, client, ['opened B', 'opened C'], NOW + 12 * SECOND)
    await sendAt(42)
    await enqueueMessages(store, client, ['opened D', 'opened E'], NOW + 60 * SECOND)
    await sendAt(90)
    assert.deepEqual(textsOf(node), ['opened A', 'opened B+C', 'opened D', 'opened E'])
  },
)

testOnEveryEngine('messages of a deleted client or paused, or to nowhere, are cancelled', async (store, t) => {
  const clock = newClock()
  const deleted = await insertClient(store)
  const paused = await insertClient(store)
  const cleared = await insertClient(store)
  const node = await openNode(t, store, clock, undefined, { globalWebhook: 'https://chat.example/all' })
  const channelSettings = { globalWebhook: 'https://chat.example/all', isEmailOn: true }
  await enqueueMessages(store, deleted, ['reminder A'], NOW, channelSettings)
  await enqueueMessages(store, paused, ['reminder B'], NOW, channelSettings)
  await enqueueMessages(store, cleared, ['reminder C'], NOW, channelSettings)
  await store.write
    .updateTable('channels')
    .set({ failures: 3, failing_since: NOW - HOUR })
    .execute()
  await store.write.deleteFrom('clients').where('id', '=', deleted.id).execute()
  await store.write.updateTable('clients').set({ is_active: 0 }).where('id', '=', paused.id).execute()
  await store.write.updateTable('clients').set({ chat_webhook: null }).where('id', '=', cleared.id).execute()
  await node.notifications.run()
  assert.deepEqual(
    node.sent.map(({ text, address }) => `${text} ${address}`),
    ['reminder C https://chat.example/all'],
  )
  assert.deepEqual((await statesOf(store)).toSorted(), [...Array(5).fill('cancelled'), 'delivered'])
  assert.equal((await channelRow(store, `chat:${cleared.id}`)).failing_since, null)
})

testOnEveryEngine('old messages are cleared away, but none that waits', async (store, t) => {
  const clock = newClock()
  const client = await insertClient(store)
  const node = await openNode(t, store, clock, undefined, { resultDays: 2 })
  await enqueueMessages(store, client, ['reminder A'], NOW)
  await node.notifications.run()
  await enqueueMessages(store, client, ['reminder B', 'opened C'], NOW + DAY)
  await store.write.updateTable('deliveries').set({ state: 'failed' }).where('kind', '=', 'reminder').execute()
  clock.advance(2 * DAY + 1)
  await node.membership.beat()
  const [, retention] = node.notifications.loops
  await retention?.tick()
  assert.deepEqual(await statesOf(store), ['failed', 'pending'])
  clock.advance(DAY)
  await node.membership.beat()
  await retention?.tick()
  assert.deepEqual(await statesOf(store), ['pending'])
})

testOnEveryEngine(
  'what was found before a downtime goes out when its probe has looked again, or soon, and what is over at once',
  async (store, t) => {
    const clock = newClock()
    const client = await insertClient(store)
    const site = await insertSite(store, { client_id: client.id })
    for (const name of ['looked', 'unlooked']) {
      const { id } = await insertProbe(store, site.id, { next_run_at: NOW - HOUR })
      await insertAlert(store, site, NOW - HOUR, { id: alertId(name), probe_id: id })
    }
    const overdue = await insertProbe(store, site.id, { next_run_at: NOW - HOUR })
    const ended = { state: 'resolved', resolved_at: NOW - HOUR, resolution: 'recovered' } as const
    await insertAlert(store, site, NOW - HOUR, { id: alertId('over'), probe_id: overdue.id, ...ended })
    await enqueueMessages(store, client, ['resolved over'], NOW - MINUTE)
    await enqueueMessages(store, client, ['escalated looked', 'escalated unlooked', 'escalated C'], NOW)
    const node = await openNode(t, store, clock)
    await node.notifications.run()
    assert.deepEqual(textsOf(node), ['resolved over', 'escalated C'])
    const alertOfA = store.read.selectFrom('alerts').select('probe_id').where('id', '=', alertId('looked'))
    await store.write.updateTable('probes').set({ next_run_at: NOW }).where('id', '=', alertOfA).execute()
    await node.notifications.run()
    assert.deepEqual(textsOf(node), ['resolved over', 'escalated C', 'escalated looked'])
    clock.advance(2 * MINUTE)
    await node.membership.beat()
    await node.notifications.run()
    assert.deepEqual(textsOf(node), ['resolved over', 'escalated C', 'escalated looked', 'escalated unlooked'])
  },
)

testLogic('a channel keeps its pace', async (store, t) => {
  const clock = newClock()
  const client = await insertClient(store, { chat_webhook: null, email: 'ops@example.com' })
  const node = await openNode(t, store, clock)
  await enqueueMessages(store, client, ['reminder A', 'reminder B'], NOW)
  // It waits for its pace, and finds that the clock stands still.
  await node.notifications.run()
  await node.notifications.run()
  assert.deepEqual(textsOf(node), ['reminder A'])
  clock.advance(200)
  await node.notifications.run()
  assert.deepEqual(textsOf(node), ['reminder A', 'reminder B'])
})
