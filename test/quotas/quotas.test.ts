import assert from 'node:assert/strict'
import { DAY, HOUR, MINUTE } from '../../src/lib/index.ts'
import { cardOf } from '../../src/notifications/cards/card-of.ts'
import { writeQuotaMessage } from '../../src/quotas/quotas.ts'
import { testLogic, testOnEveryEngine } from '../../testkit/engines.ts'
import { insertSender, NOW, notes, openQuotas, sent, use, written } from './support.ts'

testOnEveryEngine('a client is notified once at 80 % and once at 100 %, on each of its channels', async (store, t) => {
  const id = await insertSender(store, { email: 'ops@acme.example' })
  await insertSender(store)
  const { tick, errors } = await openQuotas(t, store)
  await use(store, id, 799)
  await tick()
  assert.deepEqual(await written(store), [])

  await use(store, id, 800)
  await tick()
  await tick()
  const message = {
    kind: 'quota',
    client: { id, name: 'Acme' },
    step: 80,
    events: 800,
    limit: 1_000,
    seen_at: Date.parse(NOW),
    resets_at: Date.parse('2026-12-01T00:00:00Z'),
  }
  const first = { client_id: id, kind: 'quota', message }
  assert.deepEqual(await written(store), [
    { channel: `chat:${id}`, ...first },
    { channel: `email:${id}`, ...first },
  ])

  await use(store, id, 999)
  await tick()
  assert.equal((await written(store)).length, 2)
  await use(store, id, 1_000)
  await tick()
  await tick()
  assert.deepEqual(await sent(store), ['80 of 1000', '80 of 1000', '100 of 1000', '100 of 1000'])
  assert.deepEqual(errors, [])
})

testOnEveryEngine('a restart and a second node send no message again, also at the same moment', async (store, t) => {
  const id = await insertSender(store)
  await use(store, id, 900)
  const nodes = [await openQuotas(t, store), await openQuotas(t, store)]
  for (const { tick } of nodes) await tick()
  assert.deepEqual(await sent(store), ['80 of 1000'])
  await use(store, id, 1_200)
  // Two that both take themselves for the only one, as when a lease changes hands.
  await Promise.all(
    nodes.map(({ clock }) => {
      const channelSettings = { globalWebhook: null, isEmailOn: true }
      return writeQuotaMessage({ store, clock, channelSettings }, id)
    }),
  )
  const { tick } = await openQuotas(t, store)
  await tick()
  assert.deepEqual(await sent(store), ['80 of 1000', '100 of 1000'])
})

testOnEveryEngine('a quota of which batches are refused, as too little is left of it, is used up', async (store, t) => {
  const id = await insertSender(store)
  const other = await insertSender(store)
  const { tick, clock } = await openQuotas(t, store)
  const refuse = async (path: string, number: number, client = id) => {
    const { site_no } = await store.read
      .selectFrom('sites')
      .select('site_no')
      .where('client_id', '=', client)
      .executeTakeFirstOrThrow()
    const refusal = { site_no, id: number, rejected_at: clock.now(), reason: 'rate_limited', path }
    await store.write.insertInto('rejections').values(refusal).execute()
  }
  // A large batch is refused long before.
  await use(store, id, 900)
  await refuse('events per month', 1)
  await tick()
  assert.deepEqual(await sent(store), ['80 of 1000'])

  clock.advance(HOUR)
  await use(store, id, 995)
  await refuse('requests per second', 2)
  await refuse('events per month', 3, other)
  await tick()
  assert.deepEqual(await sent(store), ['80 of 1000'])

  await refuse('events per month', 3)
  await tick()
  await use(store, id, 1_000)
  await tick()
  assert.deepEqual(await sent(store), ['80 of 1000', '100 of 1000'])
  const [, usedUp] = await written(store)
  assert.equal(usedUp?.message.events, 995)
  const card = cardOf(usedUp.message, { at: clock.now(), publicUrl: 'https://tw.example' })
  assert.equal(
    card.what,
    "Only 5 of this month's events are left: requests with more are refused (429), and not counted",
  )
  const last = cardOf({ ...usedUp.message, events: 999 }, { at: clock.now(), publicUrl: 'https://tw.example' })
  assert.match(last.what, /^Only 1 of this month's events is left: /)
})

testOnEveryEngine('a client that jumps over 80 % is notified only that the quota is used up', async (store, t) => {
  const id = await insertSender(store)
  const { tick, clock } = await openQuotas(t, store)
  await use(store, id, 5_000)
  await tick()
  clock.advance(MINUTE)
  await tick()
  assert.deepEqual(await sent(store), ['100 of 1000'])
})

testOnEveryEngine('a new month and a larger quota cause new notifications', async (store, t) => {
  const id = await insertSender(store)
  const { tick, clock } = await openQuotas(t, store)
  await use(store, id, 1_000)
  await tick()
  await store.write.updateTable('clients').set({ events_per_month: 2_000 }).where('id', '=', id).execute()
  await tick()
  await use(store, id, 1_600)
  await tick()
  const next = '2026-12-02T00:00:00Z'
  clock.set(next)
  await tick()
  await use(store, id, 1_700, next)
  await tick()
  assert.deepEqual(await sent(store), ['100 of 1000', '80 of 2000', '80 of 2000'])
})

testOnEveryEngine(
  'without a channel no notification is recorded, and once there is one it is sent',
  async (store, t) => {
    const id = await insertSender(store, { chat_webhook: null, email: 'ops@acme.example' })
    await use(store, id, 900)
    const { tick: withoutMail } = await openQuotas(t, store, {
      channelSettings: { globalWebhook: null, isEmailOn: false },
    })
    await withoutMail()
    assert.deepEqual([await written(store), await notes(store)], [[], []])

    const address = 'https://chat.example/gone'
    const off = { channel: `chat:${id}`, address, next_attempt_at: 0, failures: 1, off_since: 1 }
    await store.write.insertInto('channels').values(off).execute()
    await store.write.updateTable('clients').set({ chat_webhook: address }).execute()
    await withoutMail()
    assert.deepEqual([await written(store), await notes(store)], [[], []])

    await store.write.updateTable('clients').set({ chat_webhook: 'https://chat.example/hook' }).execute()
    await withoutMail()
    assert.deepEqual(await sent(store), ['80 of 1000'])
  },
)

testLogic(
  'a client whose only channel takes nothing but incidents gets its notification once it has another',
  async (store, t) => {
    const id = await insertSender(store, { chat_webhook: null })
    await store.write
      .insertInto('client_channels')
      .values({
        ...{ id: 'p', client_id: id, kind: 'pagerduty', name: 'Pager', created_at: 0, is_active: 1 },
        ...{ minimum_severity: 'warning', warnings_after_minutes: null },
        address: 'pagerduty+https://events.pagerduty.com/v2/enqueue#0123456789abcdef',
      })
      .execute()
    await use(store, id, 900)
    const { tick } = await openQuotas(t, store)
    await tick()
    assert.deepEqual([await written(store), await notes(store)], [[], []])

    await store.write.updateTable('clients').set({ email: 'ops@acme.example' }).where('id', '=', id).execute()
    await tick()
    assert.deepEqual(await sent(store), ['80 of 1000'])
  },
)

testOnEveryEngine('inactive clients and clients without a quota are not notified', async (store, t) => {
  const inactive = await insertSender(store, { is_active: 0 })
  const unlimited = await insertSender(store, { events_per_month: null })
  for (const id of [inactive, unlimited]) await use(store, id, 5_000_000)
  const { tick, clock } = await openQuotas(t, store)
  await tick()
  // Switched off after it was found.
  await writeQuotaMessage({ store, clock, channelSettings: { globalWebhook: null, isEmailOn: true } }, inactive)
  assert.deepEqual([await written(store), await notes(store)], [[], []])
})

testOnEveryEngine(
  'sent notifications are forgotten long after the end of their month, not before',
  async (store, t) => {
    const id = await insertSender(store)
    await use(store, id, 900)
    const { tick, clock } = await openQuotas(t, store)
    await tick()
    for (let days = 0; days < 30; days++) {
      clock.advance(DAY)
      await tick()
    }
    assert.equal((await notes(store)).length, 1)
    for (let days = 0; days < 30; days++) {
      clock.advance(DAY)
      await tick()
    }
    assert.deepEqual(await notes(store), [])
  },
)
