import { sql } from 'kysely'
import {
  type Access,
  DEFAULT_PAGE,
  editsAll,
  idBefore,
  type Page,
  pageOf,
  seesSecrets,
  visibleTo,
} from '../../http/index.ts'
import { AppError, isoTime, isoTimeOrNull, notFound } from '../../lib/index.ts'
import { type Context, writeAudit } from '../../management/index.ts'
import { type DeliveryRow, type Store, type Tables, type Transaction, unindexed } from '../../store/index.ts'
import { keyOf, storedKind } from '../channel.ts'
import type { Message } from '../message.ts'
import { BRIEF } from '../outbox-entry.ts'
import { DELIVERY_STATES, type DeliveryQuery, type DeliveryRecord } from './schemas.ts'

type Reader = Pick<Store, 'read'>

/** Messages of one alert: it has few, some per channel and its reminders. */
const OF_ALERT_MAX = 1_000

/**
 * Returns a page of the delivery log as far as the caller may see it, newest first.
 *
 * @throws AppError `invalid_request` when `before` is neither an id nor a time
 */
export async function listDeliveries(
  store: Reader,
  { client_id, alert_id, state, before, limit = DEFAULT_PAGE }: DeliveryQuery,
  access: Access,
): Promise<Page<DeliveryRecord>> {
  const visible = visibleTo(access)
  let query = sentRows(store).limit(limit + 1)
  // Pending and failed messages are few and have their own indexes, while the client's index may lead through a million messages.
  const isRare = state === 'pending' || state === 'failed'
  const owner = isRare ? unindexed('deliveries.client_id') : sql.ref<string>('deliveries.client_id')
  if (visible !== null) query = query.where(owner, 'in', [...visible])
  if (client_id !== undefined) query = query.where(owner, '=', client_id)
  if (alert_id !== undefined) query = query.where('deliveries.alert_id', '=', alert_id)
  if (state !== undefined) query = query.where('deliveries.state', '=', state)
  if (before !== undefined) query = query.where('deliveries.id', '<', idBefore(before, 'a message'))
  const rows = await query.execute()
  return pageOf(
    rows.map((row) => deliveryRecord(row, seesSecrets(access, row.client_id))),
    limit,
    ({ id }) => id,
  )
}

/** Returns the messages about an alert, newest first. */
export async function deliveriesOf(store: Reader, alertId: string, showsSecrets: boolean): Promise<DeliveryRecord[]> {
  const rows = await sentRows(store).where('deliveries.alert_id', '=', alertId).limit(OF_ALERT_MAX).execute()
  return rows.map((row) => deliveryRecord(row, showsSecrets))
}

const sentRows = ({ read }: Reader) =>
  read
    .selectFrom('deliveries')
    .leftJoin('channels', 'channels.channel', 'deliveries.channel')
    .selectAll('deliveries')
    .select('channels.address')
    .orderBy('deliveries.id', 'desc')

/** A message and the last address of its channel; null when nothing is known about the channel. */
type SentRow = DeliveryRow & { address: string | null }

/** Returns a message as the API shows it. */
function deliveryRecord(row: SentRow, showsSecrets: boolean): DeliveryRecord {
  const isDelivered = row.state === 'delivered'
  return {
    id: row.id,
    channel: row.channel,
    service: row.address === null ? null : storedKind(keyOf(row.channel), row.address),
    client_id: row.client_id,
    alert_id: row.alert_id,
    kind: row.kind,
    title: titleOf(JSON.parse(row.message) as Message),
    state: stateOf(row.state),
    created_at: isoTime(row.created_at),
    not_before: isoTime(row.not_before),
    group_id: row.group_id,
    attempts: row.attempts,
    last_attempt_at: isoTimeOrNull(row.last_attempt_at),
    last_error: isDelivered ? null : shownError(row.channel, row.last_error, showsSecrets),
    note: isDelivered ? row.last_error : null,
    delivered_at: isoTimeOrNull(row.delivered_at),
    over_before_due: row.kind === BRIEF.kind,
  }
}

/** Hides a mail server's error, which may hold the address, from callers who may not see that. */
export const shownError = (channel: string, error: string | null, showsSecrets: boolean): string | null =>
  showsSecrets || !channel.startsWith('email:') ? error : null

function titleOf(message: Message): string {
  switch (message.kind) {
    case 'test':
      return 'Test message'
    case 'digest':
      return `${message.period === 'daily' ? 'Daily' : 'Weekly'} digest of ${message.client.name}`
    case 'quota':
      return message.step === 100 ? 'Quota used up' : 'Quota nearly used up'
    case 'vendor_opened':
    case 'vendor_resolved':
      return message.incident.title
    case 'own_failure':
    case 'own_recovery':
      return message.message
    default:
      return message.alert.title
  }
}

/**
 * Narrows a stored state.
 *
 * @throws Error when Tagwarden did not write the row
 */
function stateOf(text: string): DeliveryRecord['state'] {
  const known = DELIVERY_STATES.find((state) => state === text)
  if (known === undefined) throw new Error(`the store holds an unknown state of a message: ${text}`)
  return known
}

/**
 * Sends a message again as soon as possible, with all messages of its client that were sent as one with it, and tries for another
 * 24 hours if necessary. A channel that is off, or waits after a failure, is tried at once; the one for all clients only when the
 * caller is an editor of all clients.
 *
 * @throws AppError `not_found`; `conflict` when it was delivered or cancelled
 */
export async function retryDelivery(ctx: Context, id: string, access: Access): Promise<DeliveryRecord> {
  await ctx.store.write.transaction().execute(async (trx) => {
    const row = await lockDelivery(trx, id)
    if (row === undefined) throw notFound('Delivery')
    requireRetriable(row)
    const now = ctx.clock.now()
    await trx
      .updateTable('deliveries')
      .set(({ eb, ref }) => ({
        state: 'pending',
        not_before: now,
        given_up_at: null,
        // A brief warning would not be sent, but was requested by hand.
        kind: eb.case().when('kind', '=', BRIEF.kind).then('resolved').else(ref('kind')).end(),
      }))
      .where('channel', '=', row.channel)
      .where((eb) => (row.group_id === null ? eb('id', '=', id) : eb('group_id', '=', row.group_id)))
      // On the operator's channel one group may hold ends of several clients.
      .where('client_id', row.client_id === null ? 'is' : '=', row.client_id)
      .where('state', 'in', ['pending', 'failed'])
      .execute()
    if (row.channel !== 'global' || editsAll(access)) {
      await trx
        .updateTable('channels')
        .set({ off_since: null, next_attempt_at: now })
        .where('channel', '=', row.channel)
        .execute()
    }
    const after = { channel: row.channel, state: 'pending', not_before: isoTime(now) }
    const before = { channel: row.channel, state: row.state, not_before: isoTime(row.not_before) }
    await writeAudit(trx, ctx, [{ entity: 'delivery', verb: 'retry', id, before, after }])
  })
  return readDelivery(ctx.store, id)
}

async function readDelivery(store: Pick<Store, 'read'>, id: string): Promise<DeliveryRecord> {
  const row = await sentRows(store).where('deliveries.id', '=', id).executeTakeFirst()
  if (row === undefined) throw notFound('Delivery')
  // Only callers who may change things, and so see addresses, get here.
  return deliveryRecord(row, true)
}

/** Returns a message and locks it until the transaction ends; undefined when there is none. */
async function lockDelivery(trx: Transaction<Tables>, id: string): Promise<DeliveryRow | undefined> {
  return trx
    .updateTable('deliveries')
    .set(({ ref }) => ({ kind: ref('kind') }))
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirst()
}

function requireRetriable({ state, last_error }: DeliveryRow): void {
  if (state === 'delivered') throw new AppError('conflict', 'The message was already delivered: it is not sent again')
  if (state === 'cancelled') {
    throw new AppError(
      'conflict',
      `The message was cancelled (${last_error ?? 'no reason is known'}): it is not sent again`,
    )
  }
}
