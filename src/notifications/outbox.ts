import { newOrderedId, SECOND } from '../lib/index.ts'
import { chunksOf, type Tables, type Transaction } from '../store/index.ts'
import type { Channel } from './channel.ts'
import { storedAddress } from './channel.ts'
import type { AlertMessageKind, Message } from './message.ts'

/**
 * How long a message about an opened or resolved alert waits for others that belong to it. A person waits seconds longer;
 * an outage of ten probes is one message instead of ten.
 */
export const GATHER_MS = 10 * SECOND

/** What waits for others that belong to it. */
export const GATHERED_KINDS: readonly string[] = ['opened', 'resolved'] satisfies AlertMessageKind[]

export interface OutboxEntry {
  channel: Channel
  clientId: string | null
  alertId: string | null
  message: Message
}

/**
 * Puts messages into the outbox, in the transaction of the change they are about: there is never one without the other. Nothing
 * is sent here.
 */
export async function enqueue(trx: Transaction<Tables>, entries: readonly OutboxEntry[], now: number): Promise<void> {
  if (entries.length === 0) return
  const channels = new Map(entries.map(({ channel }) => [channel.key, channel]))
  // In one order everywhere: transactions that add the same channels at once wait for each other instead of standing in the way.
  const inOrder = [...channels.values()].sort((a, b) => (a.key < b.key ? -1 : 1))
  const blank = inOrder.map((channel) => ({
    channel: channel.key,
    address: storedAddress(channel),
    next_attempt_at: 0,
    failures: 0,
  }))
  for (const chunk of chunksOf(blank)) {
    await trx
      .insertInto('channels')
      .values(chunk)
      .onConflict((conflict) => conflict.column('channel').doNothing())
      .execute()
  }
  const rows = entries.map(({ channel, clientId, alertId, message }) => ({
    id: newOrderedId(now),
    channel: channel.key,
    client_id: clientId,
    alert_id: alertId,
    kind: message.kind,
    message: JSON.stringify(message),
    state: 'pending',
    created_at: now,
    not_before: GATHERED_KINDS.includes(message.kind) ? now + GATHER_MS : now,
    attempts: 0,
  }))
  for (const chunk of chunksOf(rows)) await trx.insertInto('deliveries').values(chunk).execute()
}
