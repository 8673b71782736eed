import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { newId, newOrderedId } from '../../src/lib/index.ts'
import {
  type AlertMessage,
  type AlertMessageKind,
  type ChannelKey,
  channelsOf,
  enqueue,
  type Message,
  type MessageGroup,
  Notifications,
  type NotificationsOptions,
  type SendOrder,
  type SendOutcome,
} from '../../src/notifications/index.ts'
import type { ChannelRow, ClientRow, DeliveryRow, Store } from '../../src/store/index.ts'
import { NOW, type TestClock } from '../../testkit/clock.ts'
import { insertClient as insertAnyClient } from '../../testkit/sites.ts'
import { asShared, joinNode, type TestNode } from '../cluster/support.ts'

/** What was sent, in its order, in short: `opened A`, `opened A+B+C` for a group. */
export interface Sent {
  text: string
  key: string
  address: string
}

export type Send = (order: SendOrder, signal: AbortSignal) => SendOutcome | Promise<SendOutcome>

export interface NotificationNode extends TestNode {
  notifications: Notifications
  sent: Sent[]
}

export const DELIVERED: SendOutcome = { kind: 'delivered' }

/** A node that sends when the test says so; `send` decides the outcome. */
export async function openNode(
  t: TestContext,
  store: Store,
  clock: TestClock,
  send: Send = () => DELIVERED,
  options: Partial<NotificationsOptions> = {},
  joined: Store = asShared(store),
): Promise<NotificationNode> {
  const node = await joinNode(t, joined, clock)
  const sent: Sent[] = []
  const transport = {
    async send(order: SendOrder, signal: AbortSignal) {
      sent.push({ text: inWords(order.message), key: order.idempotencyKey, address: order.address })
      return send(order, signal)
    },
  }
  const notifications = new Notifications({
    store,
    clock,
    ...node,
    transports: { chat: transport, email: transport },
    globalWebhook: null,
    publicUrl: () => 'https://tagwarden.example',
    resultDays: 90,
    onError: (error, what) => node.errors.push(`${what}: ${error.message}`),
    random: () => 0,
    ...options,
  })
  t.after(() => notifications.stop(0))
  return { ...node, notifications, sent }
}

export const textsOf = ({ sent }: Pick<NotificationNode, 'sent'>): string[] => sent.map(({ text }) => text)

function inWords(message: Message | MessageGroup): string {
  if (message.kind === 'group') return `${message.of} ${message.messages.map(({ alert }) => alert.title).join('+')}`
  return 'alert' in message ? `${message.kind} ${message.alert.title}` : message.kind
}

/** Writes a client that has a chat webhook straight into the store. */
export const insertClient = (store: Store, over: Partial<ClientRow> = {}): Promise<ClientRow> =>
  insertAnyClient(store, { chat_webhook: 'https://chat.example/hook', ...over })

const alertIds = new Map<string, string>()

/** The same name stands for the same alert throughout a test file. */
export function alertId(name: string): string {
  const id = alertIds.get(name) ?? newOrderedId(NOW)
  alertIds.set(name, id)
  return id
}

export function alertMessage(
  client: Pick<ClientRow, 'id' | 'name'>,
  kind: AlertMessageKind,
  name: string,
): AlertMessage {
  return {
    kind,
    alert: {
      id: alertId(name),
      severity: 'critical',
      state: kind === 'resolved' ? 'resolved' : 'open',
      title: name,
      message: 'the tag server answers with status 502',
      since: NOW,
      opened_at: NOW,
      resolved_at: null,
      resolution: null,
      resolved_by: null,
      occurrences: 1,
    },
    client: { id: client.id, name: client.name },
    site: { id: newId(), name: 'shop', url: 'https://shop.example', timezone: 'UTC' },
    probe: { id: newId(), name: 'Tag server', probe_type: 'tag_server' },
    facts: [],
    change: null,
  }
}

/** Writes messages about a client into the outbox, each like `opened A`, as an alert's change does. */
export async function enqueueMessages(
  store: Store,
  client: ClientRow,
  texts: readonly string[],
  now: number,
  channelSettings: { globalWebhook: string | null; isEmailOn: boolean } = { globalWebhook: null, isEmailOn: true },
): Promise<void> {
  const entries = texts.flatMap((text) => {
    const [kind, name = ''] = text.split(' ')
    const message = alertMessage(client, kind as AlertMessageKind, name)
    return channelsOf({ client: { ...client, channels: [] }, ...channelSettings }).map((channel) => ({
      channel,
      clientId: client.id,
      alertId: message.alert.id,
      message,
    }))
  })
  await store.write.transaction().execute((trx) => enqueue(trx, entries, now))
}

export const deliveries = (store: Store): Promise<DeliveryRow[]> =>
  store.read.selectFrom('deliveries').selectAll().orderBy('id').execute()

export const statesOf = async (store: Store): Promise<string[]> => (await deliveries(store)).map(({ state }) => state)

export async function channelRow(store: Store, channel: ChannelKey): Promise<ChannelRow> {
  const row = await store.read.selectFrom('channels').selectAll().where('channel', '=', channel).executeTakeFirst()
  assert.ok(row !== undefined)
  return row
}
