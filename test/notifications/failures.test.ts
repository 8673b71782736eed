import assert from 'node:assert/strict'
import { HOUR, MINUTE, SECOND } from '../../src/lib/index.ts'
import { noteSuccess } from '../../src/notifications/channel.ts'
import { type Channel, enqueue, type SendOrder, type SendOutcome } from '../../src/notifications/index.ts'
import { NOW, newClock } from '../../testkit/clock.ts'
import { testLogic, testOnEveryEngine } from '../../testkit/engines.ts'
import { until } from '../../testkit/until.ts'
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

testLogic('a failure that passes is tried again, later each time, and all else waits behind it', async (store, t) => {
  const clock = newClock()
  const client = await insertClient(store, { email: 'ops@example.com' })
  const outcomes: SendOutcome[] = [
    { kind: 'passing', error: 'status 500' },
    { kind: 'passing', error: 'status 429', retryAfterMs: 90 * SECOND },
  ]
  const node = await openNode(t, store, clock, ({ address }) =>
    address.startsWith('https:') ? (outcomes.shift() ?? DELIVERED) : DELIVERED,
  )
  await enqueueMessages(store, client, ['reminder A', 'reminder B'], NOW)
  await node.notifications.run()
  const chat = () => node.sent.filter(({ address }) => address.startsWith('https:')).map(({ text }) => text)
  assert.deepEqual(chat(), ['reminder A'])
  const failing = await channelRow(store, `chat:${client.id}`)
  assert.deepEqual(
    [failing.failures, failing.failing_since, failing.last_error, failing.next_attempt_at, failing.claimed_by],
    [1, NOW, 'status 500', NOW + 10 * SECOND, null],
  )
  clock.advance(10 * SECOND - 1)
  await node.notifications.run()
  assert.equal(chat().length, 1)
  clock.advance(1)
  await node.notifications.run()
  assert.equal(chat().length, 2)
  clock.advance(90 * SECOND)
  await node.notifications.run()
  assert.deepEqual(chat(), ['reminder A', 'reminder A', 'reminder A', 'reminder B'])
  // The other channel had its messages long before.
  assert.deepEqual(node.sent.filter(({ address }) => address === 'ops@example.com').length, 2)
  assert.deepEqual(await statesOf(store), Array(4).fill('delivered'))
})

testLogic('what cannot be sent for 24 hours is given up', async (store, t) => {
  const clock = newClock()
  const client = await insertClient(store)
  const node = await openNode(t, store, clock, () => ({ kind: 'passing', error: 'status 503' }))
  let givenUp = 0
  node.notifications.watch({ onGivenUp: (count) => (givenUp += count) })
  await enqueueMessages(store, client, ['reminder A'], NOW)
  for (let hours = 0; hours < 24; hours++) {
    await node.notifications.run()
    clock.advance(HOUR)
    await node.membership.beat()
  }
  assert.deepEqual(await statesOf(store), ['pending'])
  await node.notifications.run()
  const [row] = await deliveries(store)
  assert.deepEqual([row?.state, row?.last_error], ['failed', 'given up after 24 hours: status 503'])
  assert.equal(givenUp, 1)
  const sent = node.sent.length
  clock.advance(HOUR)
  await node.membership.beat()
  await node.notifications.run()
  assert.equal(node.sent.length, sent)
})

testOnEveryEngine('a clock that runs days ahead gives no message up', async (store, t) => {
  const clock = newClock()
  const client = await insertClient(store)
  let isUp = false
  let isInDoubt = false
  const send = (): SendOutcome => (isUp ? DELIVERED : { kind: 'passing', error: 'status 503' })
  const node = await openNode(t, store, clock, send, { expiry: { expiryTime: () => (isInDoubt ? null : clock.now()) } })
  await enqueueMessages(store, client, ['reminder A'], NOW)
  await node.notifications.run()
  isInDoubt = true
  clock.advance(9 * 24 * HOUR)
  await node.membership.beat()
  await node.notifications.run()
  assert.deepEqual(await statesOf(store), ['pending'])
  isUp = true
  isInDoubt = false
  clock.advance(-9 * 24 * HOUR + MINUTE)
  await node.membership.beat()
  await node.notifications.run()
  assert.deepEqual(await statesOf(store), ['delivered'])
})

testOnEveryEngine('a broken channel is off until its address is edited', async (store, t) => {
  const clock = newClock()
  const client = await insertClient(store)
  const node = await openNode(t, store, clock, ({ address }) =>
    address.endsWith('/hook') ? { kind: 'channel_broken', error: 'status 404' } : DELIVERED,
  )
  await enqueueMessages(store, client, ['reminder A'], NOW)
  await node.notifications.run()
  clock.advance(2 * HOUR)
  await node.membership.beat()
  await node.notifications.run()
  assert.deepEqual(textsOf(node), ['reminder A'])
  const off = await channelRow(store, `chat:${client.id}`)
  assert.deepEqual([off.off_since, off.last_error], [NOW, 'status 404'])
  assert.match(node.errors.join(), /status 404: nothing is sent there until the address is edited/)
  await store.write.updateTable('clients').set({ chat_webhook: 'https://chat.example/new' }).execute()
  await node.notifications.run()
  assert.deepEqual(node.sent.at(-1)?.address, 'https://chat.example/new')
  assert.deepEqual(await statesOf(store), ['delivered'])
  const on = await channelRow(store, `chat:${client.id}`)
  assert.deepEqual([on.off_since, on.last_error, on.failures], [null, null, 0])
})

testLogic(
  'that a channel is off is said once: to the operator, or where there is none, over the others',
  async (store, t) => {
    const clock = newClock()
    const client = await insertClient(store, { name: 'ACME', email: 'ops@example.com' })
    const said: string[] = []
    const send = ({ address, message }: SendOrder): SendOutcome => {
      if (address.endsWith('/hook')) return { kind: 'channel_broken', error: 'status 404' }
      if (message.kind === 'own_failure') said.push(`${address}: ${message.message}`)
      return DELIVERED
    }
    const OFF = 'chat of ACME is off: status 404. Nothing is sent there until the address is edited'
    for (const [globalWebhook, expected] of [
      [null, [`ops@example.com: ${OFF}`]],
      ['https://chat.example/operator', [`https://chat.example/operator: ${OFF}`]],
      // Of which no one else may know.
      ['https://chat.example/operators/hook', [`ops@example.com: ${OFF}`]],
    ] as const) {
      said.length = 0
      await store.write.deleteFrom('channels').execute()
      const node = await openNode(t, store, clock, send, { globalWebhook })
      await enqueueMessages(store, client, ['reminder A', 'reminder B'], clock.now(), {
        globalWebhook,
        isEmailOn: true,
      })
      for (let round = 0; round < 4; round++) {
        await node.notifications.run()
        clock.advance(SECOND)
      }
      assert.deepEqual(said, expected)
    }

    // Where it works again before the operator could be notified, that it is off is not true any more.
    said.length = 0
    await store.write.deleteFrom('channels').execute()
    const operator = 'https://chat.example/operator'
    let isMended = false
    const later = (order: SendOrder): SendOutcome => {
      if (isMended && order.address.endsWith('/hook')) return DELIVERED
      return !isMended && order.address === operator ? { kind: 'passing', error: 'status 503' } : send(order)
    }
    const node = await openNode(t, store, clock, later, { globalWebhook: operator })
    await enqueueMessages(store, client, ['reminder C'], clock.now(), { globalWebhook: operator, isEmailOn: true })
    await node.notifications.run()
    await node.notifications.run()
    clock.advance(SECOND)
    await noteSuccess(store, { key: `chat:${client.id}`, address: 'https://chat.example/hook' }, clock.now())
    isMended = true
    clock.advance(HOUR)
    await node.membership.beat()
    await node.notifications.run()
    const reasons = (await deliveries(store)).map(({ last_error }) => last_error)
    assert.deepEqual([said, reasons.at(-1)], [[], 'the channel works again'])
  },
)

testOnEveryEngine(
  'a refused message fails and the next one goes; a refused group goes one by one',
  async (store, t) => {
    const clock = newClock()
    const client = await insertClient(store)
    const node = await openNode(t, store, clock, ({ message }) =>
      message.kind === 'group' || message.kind === 'escalated'
        ? { kind: 'message_refused', error: 'status 400' }
        : DELIVERED,
    )
    await enqueueMessages(store, client, ['escalated X', 'opened A', 'opened B', 'opened C'], NOW)
    clock.advance(30 * SECOND)
    await node.notifications.run()
    assert.deepEqual(textsOf(node), ['escalated X', 'opened A+B+C', 'opened A', 'opened B', 'opened C'])
    assert.deepEqual(await statesOf(store), ['failed', 'delivered', 'delivered', 'delivered'])
  },
)

testOnEveryEngine(
  'an address that is put off among others gets the message alone later, and holds up nothing',
  async (store, t) => {
    const clock = newClock()
    const client = await insertClient(store, { chat_webhook: null, email: 'a@x.example, b@x.example' })
    let later: SendOutcome = { kind: 'passing', error: 'status 451', ofAddress: true }
    const to: string[] = []
    const node = await openNode(t, store, clock, ({ only }) => {
      to.push(only === undefined ? 'all' : only.join())
      return only === undefined
        ? { kind: 'delivered', note: '1 of 2 was not reached yet', left: ['b@x.example'] }
        : later
    })
    await enqueueMessages(store, client, ['opened A'], NOW)
    const run = async (ms: number) => {
      clock.advance(ms)
      await node.membership.beat()
      await node.notifications.run()
    }
    await run(10 * SECOND)
    assert.deepEqual(await statesOf(store), ['delivered', 'pending'])
    await run(10 * SECOND)
    await run(10 * SECOND)
    assert.deepEqual(to, ['all', 'b@x.example'])
    const channel = await channelRow(store, `email:${client.id}`)
    assert.deepEqual([channel.failures, channel.last_error, channel.off_since], [0, null, null])
    // Meanwhile others go out, of the same alert too.
    await enqueueMessages(store, client, ['escalated A'], clock.now())
    await run(0)
    assert.deepEqual(to, ['all', 'b@x.example', 'all'])
    later = DELIVERED
    await run(MINUTE)
    await run(MINUTE)
    assert.deepEqual(to.slice(3), ['b@x.example', 'b@x.example'])
    assert.deepEqual(await statesOf(store), Array(4).fill('delivered'))
    assert.equal(node.sent[0]?.key, node.sent[1]?.key)
    // Neither a day of this nor an address that is refused for good is a matter of the others.
    await enqueueMessages(store, client, ['escalated B'], clock.now())
    later = { kind: 'passing', error: 'status 451', ofAddress: true }
    await run(0)
    for (let hours = 0; hours < 25; hours++) await run(HOUR)
    await enqueueMessages(store, client, ['escalated C'], clock.now())
    later = { kind: 'channel_broken', error: 'status 550' }
    await run(MINUTE)
    await run(MINUTE)
    assert.deepEqual(
      (await deliveries(store)).slice(4).map(({ state, last_error }) => [state, last_error]),
      [
        ['delivered', '1 of 2 was not reached yet'],
        ['failed', 'given up after 24 hours: status 451'],
        ['delivered', '1 of 2 was not reached yet'],
        ['failed', 'status 550'],
      ],
    )
    assert.equal((await channelRow(store, `email:${client.id}`)).off_since, null)
    assert.deepEqual(node.errors, [])
  },
)

testLogic('an attempt that takes too long is a failure that passes', async (store, t) => {
  const clock = newClock()
  const client = await insertClient(store)
  const node = await openNode(t, store, clock, () => new Promise(() => undefined), { timings: { chatMs: 20 } })
  await enqueueMessages(store, client, ['reminder A'], NOW)
  await node.notifications.run()
  const [row] = await deliveries(store)
  assert.deepEqual([row?.state, row?.last_error], ['pending', 'no answer within 0.02 s'])
})

testLogic('a mail server that hangs keeps no chat waiting, however many clients it has', async (store, t) => {
  const held = Promise.withResolvers<SendOutcome>()
  const send = ({ address }: SendOrder) => (address.includes('@') ? held.promise : DELIVERED)
  const node = await openNode(t, store, newClock(), send)
  // More than are sent on at the same time.
  for (let count = 0; count < 20; count++) {
    const client = await insertClient(store, { chat_webhook: null, email: `ops${count}@acme.example` })
    await enqueueMessages(store, client, ['reminder mail'], NOW)
  }
  const first = node.notifications.run()
  await until('some e-mails under way', async () => node.sent.length > 0 || undefined)
  await enqueueMessages(store, await insertClient(store), ['reminder chat'], NOW)
  const run = node.notifications.run()
  await until('the chat', async () => textsOf(node).includes('reminder chat') || undefined)
  assert.equal(node.sent.length, 9, 'the others wait for the eight e-mails under way')
  held.resolve(DELIVERED)
  await Promise.all([first, run])
  assert.equal(node.sent.length, 21)
})

testLogic(
  'a node sends on sixteen channels at the same time, and of one client on half of those that others leave',
  async (store, t) => {
    const held = Promise.withResolvers<SendOutcome>()
    const node = await openNode(t, store, newClock(), () => held.promise)
    const withMany = async () => {
      const many = await insertClient(store, { chat_webhook: null })
      const own = Array.from({ length: 9 }, (_, index) => {
        const fields = { kind: 'slack', minimum_severity: 'warning', warnings_after_minutes: null } as const
        const address = `https://chat.example/${index}`
        const id = `${many.id}-${index}`
        return { ...fields, id, client_id: many.id, name: address, address, created_at: 0, is_active: 1 }
      })
      await store.write.insertInto('client_channels').values(own).execute()
      const message = alertMessage(many, 'reminder', 'own')
      const entries = own.map(({ id, address }) => {
        const channel: Channel = { key: `own:${many.id}:${id}`, address }
        return { channel, clientId: many.id, alertId: null, message }
      })
      await store.write.transaction().execute((trx) => enqueue(trx, entries, NOW))
    }
    const others = async (count: number) => {
      for (let n = 0; n < count; n++) await enqueueMessages(store, await insertClient(store), ['reminder other'], NOW)
    }
    const runs: Promise<void>[] = []
    const underWay = async (count: number) => {
      runs.push(node.notifications.run())
      await until(`${count} under way`, async () => node.sent.length >= count || undefined)
      for (let reads = 0; reads < 20; reads++) await deliveries(store)
      assert.equal(node.sent.length, count)
    }
    await withMany()
    await underWay(8)
    await withMany()
    await underWay(12)
    await others(7)
    await underWay(16)
    held.resolve(DELIVERED)
    await Promise.all(runs)
    assert.equal(node.sent.length, 25)
  },
)

testLogic('a message that our own program fails over is given up after five attempts', async (store, t) => {
  const clock = newClock()
  const client = await insertClient(store)
  const node = await openNode(t, store, clock, ({ message }) => {
    if (message.kind === 'escalated') throw new Error('what is this')
    return DELIVERED
  })
  await enqueueMessages(store, client, ['escalated A', 'reminder B'], NOW)
  for (let n = 0; n < 5; n++) {
    await node.notifications.run()
    clock.advance(HOUR)
    await node.membership.beat()
  }
  assert.deepEqual(textsOf(node), [...Array(5).fill('escalated A'), 'reminder B'])
  assert.deepEqual(await statesOf(store), ['failed', 'delivered'])
  assert.equal(node.errors.filter((error) => error.includes('what is this')).length, 5)
})
