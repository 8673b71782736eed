import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { lockUnresolved, noteDelivered } from '../../src/alerts/write-transitions.ts'
import { HOUR, isoTime, MINUTE } from '../../src/lib/index.ts'
import { createOwnChannel, updateOwnChannel } from '../../src/notifications/api/own-channels.ts'
import { storedAddress } from '../../src/notifications/channel.ts'
import { enqueue } from '../../src/notifications/index.ts'
import type { Store } from '../../src/store/index.ts'
import { openEmptyStore, postgres, testLogic, testOnEveryEngine } from '../../testkit/engines.ts'
import { until } from '../../testkit/until.ts'
import { DELIVERED, openNode } from '../notifications/support.ts'
import { alertRows, deliverAll, outbox, timeline, watch } from './support.ts'

const NO_CHANNEL = { channelSettings: { globalWebhook: null, isEmailOn: false } }
const kinds = async (store: Store) => (await outbox(store)).map(({ kind }) => kind)

const texts = async (store: Store): Promise<string[]> => {
  const rows = await store.write.selectFrom('alert_events').select(['kind', 'text']).orderBy('id').execute()
  return rows.filter(({ kind }) => kind === 'notified' || kind === 'unreachable').map(({ text }) => text)
}

testLogic('an alert whose client has no channel notifies no one and says so once', async (store, t) => {
  const { find, upkeep } = await watch(t, store, {}, NO_CHANNEL)
  await find('ccc')
  await upkeep()
  const [alert] = await alertRows(store)
  assert.deepEqual([alert?.first_notified_at, alert?.suppressed_by], [null, 'no_channel'])
  assert.deepEqual(await timeline(store, alert?.id ?? ''), ['opened', 'unreachable'])
  assert.deepEqual(await texts(store), ['No one to notify: add a channel'])
  await find('o')
  assert.deepEqual(await outbox(store), [], 'and no one is notified of the end')
})

testOnEveryEngine('a channel that is added while an alert is open receives it', async (store, t) => {
  const { find, upkeep, site, clock } = await watch(t, store, {}, NO_CHANNEL)
  await find('c')
  const chat_webhook = 'https://hooks.example/own'
  await store.write.updateTable('clients').set({ chat_webhook }).where('id', '=', site.client_id).execute()
  clock.advance(MINUTE)
  await upkeep()
  await upkeep()
  assert.deepEqual(await kinds(store), ['opened'])
  const [alert] = await alertRows(store)
  assert.deepEqual([alert?.first_notified_at, alert?.suppressed_by], [clock.now(), null])
  await find('o')
  assert.deepEqual(await kinds(store), ['opened', 'resolved'])
})

testOnEveryEngine('a channel that is switched off after a failure reaches no one either', async (store, t) => {
  const { find, upkeep } = await watch(t, store)
  const address = storedAddress({ key: 'global', address: 'https://hooks.example/all' })
  const off = { channel: 'global', address, next_attempt_at: 0, failures: 1, off_since: 1 }
  await store.write.insertInto('channels').values(off).execute()
  await find('c')
  assert.deepEqual(await outbox(store), [])
  assert.deepEqual(await texts(store), ['No one to notify: every channel is switched off after a failure'])
  await store.write.updateTable('channels').set({ off_since: null }).execute()
  await upkeep()
  assert.deepEqual(await kinds(store), ['opened'])
})

testLogic('a message that still waits has notified no one and causes no reminders', async (store, t) => {
  const { find, upkeep, site, clock } = await watch(t, store, {}, { delivers: false })
  await store.write.updateTable('clients').set({ reminder_minutes: 30 }).where('id', '=', site.client_id).execute()
  await find('c')
  clock.advance(2 * HOUR)
  await upkeep()
  const [waiting] = await alertRows(store)
  assert.deepEqual([waiting?.first_notified_at, await kinds(store)], [null, ['opened']])
  assert.deepEqual(await texts(store), [])
  await deliverAll(store, clock.now())
  const [notified] = await alertRows(store)
  assert.equal(notified?.first_notified_at, clock.now())
  assert.deepEqual(await texts(store), ['Notified: open, by the webhook for all clients'])
  clock.advance(29 * MINUTE)
  await upkeep()
  assert.deepEqual(await kinds(store), ['opened'])
  clock.advance(MINUTE)
  await upkeep()
  clock.advance(2 * HOUR)
  await upkeep()
  assert.deepEqual(await kinds(store), ['opened', 'reminder'], 'no second one while the first waits')
})

testLogic('the sender writes down what reached people, with the message and once', async (store, t) => {
  const { find, clock, site } = await watch(t, store, {}, { delivers: false })
  await store.write.updateTable('clients').set({ email: 'ops@shop.example' }).where('id', '=', site.client_id).execute()
  await find('c')
  const globalWebhook = 'https://hooks.example/all'
  const onDelivered = noteDelivered(store)
  const node = await openNode(t, store, clock, () => DELIVERED, { globalWebhook, onDelivered })
  clock.advance(10_000)
  // On a busy machine a channel may take a turn of its own.
  await until('both messages are written down', async () => {
    await node.notifications.run()
    return (await texts(store)).length === 2 || undefined
  })
  const [alert] = await alertRows(store)
  assert.deepEqual(
    [alert?.first_notified_at, alert?.last_notified_at].map((at) => isoTime(at ?? 0)),
    [isoTime(clock.now()), isoTime(clock.now())],
  )
  assert.deepEqual((await texts(store)).sort(), [
    'Notified: open, by e-mail',
    'Notified: open, by the webhook for all clients',
  ])
})

test('a message is noted as sent while a result writes the next one about the same alert, and neither gives up', async (t) => {
  const store = await openEmptyStore(postgres, t)
  const { find, clock, probe, site } = await watch(t, store, {}, { delivers: false })
  await find('c')
  const [opening] = await outbox(store)
  assert.ok(opening !== undefined)
  const globalWebhook = 'https://hooks.example/all'
  const onDelivered = noteDelivered(store)
  const node = await openNode(t, store, clock, () => DELIVERED, { globalWebhook, onDelivered })
  clock.advance(10_000)
  const sending = await store.write.transaction().execute(async (trx) => {
    await lockUnresolved(trx, store, [probe.id])
    const running = node.notifications.run()
    await until('the outcome waits', async () => {
      const { rows } = await sql`select from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`.execute(store.read)
      return rows.length > 0 ? true : undefined
    })
    const channel = { key: 'global', address: globalWebhook } as const
    const entry = { channel, clientId: site.client_id, alertId: opening.alert.id }
    await enqueue(trx, [{ ...entry, message: { ...opening, kind: 'escalated' } }], clock.now())
    return { running }
  })
  await sending.running
  assert.deepEqual(node.errors, [])
  assert.deepEqual(await kinds(store), ['opened', 'escalated'])
})

testOnEveryEngine('no one is notified of the end of an alert whose opening never reached them', async (store, t) => {
  const { find, clock } = await watch(t, store, {}, { delivers: false })
  await find('co')
  const refused = { kind: 'message_refused', error: 'no' } as const
  const globalWebhook = 'https://hooks.example/all'
  const onDelivered = noteDelivered(store)
  const node = await openNode(t, store, clock, () => refused, { globalWebhook, onDelivered })
  clock.advance(MINUTE)
  await node.notifications.run()
  assert.deepEqual(
    node.sent.map(({ text }) => text),
    ['opened It is critical'],
  )
  const states = await store.write.selectFrom('deliveries').select(['kind', 'state']).orderBy('id').execute()
  assert.deepEqual(
    states.map(({ kind, state }) => `${kind} ${state}`),
    ['opened failed', 'resolved cancelled'],
  )
})

testOnEveryEngine('a channel added after a warning that no channel took gets no end of it', async (store, t) => {
  const { find, site, clock } = await watch(t, store, {}, NO_CHANNEL)
  const ctx = { store, clock, actor: 'test' }
  const urgent = { kind: 'chat', name: 'Urgent', address: 'https://hooks.example/urgent' } as const
  await createOwnChannel(ctx, site.client_id, { ...urgent, minimum_severity: 'critical' })
  await find('w')
  await createOwnChannel(ctx, site.client_id, { ...urgent, name: 'All', address: 'https://hooks.example/own' })
  await find('o')
  assert.deepEqual(await kinds(store), [])
})

testOnEveryEngine(
  'closing an incident at a pager that is switched off notifies no one of its end',
  async (store, t) => {
    const { find, site, clock } = await watch(t, store, {}, { ...NO_CHANNEL, delivers: false })
    const ctx = { store, clock, actor: 'test' }
    const pager = { kind: 'pagerduty', name: 'Pager', address: 'R0123456789' } as const
    const { id } = await createOwnChannel(ctx, site.client_id, pager)
    await find('c')
    const node = await openNode(t, store, clock, () => DELIVERED, { onDelivered: noteDelivered(store) })
    clock.advance(MINUTE)
    await node.notifications.run()
    const [known] = await alertRows(store)
    await updateOwnChannel(ctx, site.client_id, id, { is_active: false })
    clock.advance(MINUTE)
    await node.notifications.run()
    assert.deepEqual(
      node.sent.map(({ text }) => text.split(' ')[0]),
      ['opened', 'resolved'],
    )
    const [alert] = await alertRows(store)
    assert.deepEqual([alert?.state, alert?.last_notified_at], ['open', known?.last_notified_at])
    assert.deepEqual(await texts(store), ['Notified: open, by PagerDuty'])
  },
)
