import { sql } from 'kysely'
import { DAY, firstIdAt, newOrderedId, timeOfId } from '../lib/index.ts'
import { chunksOf, type Store, type Tables, type Transaction, untilDone } from '../store/index.ts'
import { type ChannelKey, storedAddress } from './channel.ts'
import { mergeIntoOpenings } from './merging.ts'
import type { AlertMessage, AlertMessageKind, MessageIncident } from './message.ts'
import { GATHER_MS, GATHERED_KINDS, isUnsent, notBefore, type OutboxEntry } from './outbox-entry.ts'

/** Messages that ask no one to act, so they do not release messages that are held back. */
const CALMING: readonly string[] = ['acknowledged', 'unacknowledged', 'resolved'] satisfies AlertMessageKind[]

/**
 * Puts messages into the outbox, in the transaction of the change that they are about, so that neither exists without the other.
 * Nothing is sent here.
 */
export async function enqueue(trx: Transaction<Tables>, entries: readonly OutboxEntry[], now: number): Promise<void> {
  if (entries.length === 0) return
  const channels = new Map(entries.map(({ channel }) => [channel.key, channel]))
  // One order everywhere, so that transactions that add the same channels wait for each other instead of deadlocking.
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
  const left = await worthReminding(trx, await mergeIntoOpenings(trx, entries, now))
  await release(trx, left, now)
  const latest = new Map([
    ...(await latestOf(trx, 'alert_id', left, now)),
    ...(await latestOf(trx, 'incident_id', left, now)),
  ])
  const rows = left.map(({ channel, clientId, alertId, incidentId, message, heldUntil = null, holdMs = 0 }) => ({
    id: newOrderedId(Math.max(now, (latest.get(alertId ?? incidentId ?? '') ?? 0) + 1)),
    channel: channel.key,
    client_id: clientId,
    alert_id: alertId,
    incident_id: incidentId ?? null,
    kind: message.kind,
    message: JSON.stringify(message),
    state: 'pending',
    created_at: now,
    not_before: notBefore(message.kind, heldUntil, holdMs, now),
    attempts: 0,
  }))
  for (const chunk of chunksOf(rows)) await trx.insertInto('deliveries').values(chunk).execute()
}

/**
 * Returns the times in the ids of the latest messages about the same alerts or vendors' incidents, epoch ms, if a node whose clock is
 * ahead wrote them: the next message must follow them, or its readers would get the older news last. Nearly always it reads only the
 * end of each index range.
 */
async function latestOf(
  trx: Transaction<Tables>,
  column: 'alert_id' | 'incident_id',
  entries: readonly OutboxEntry[],
  now: number,
): Promise<ReadonlyMap<string, number>> {
  const latest = new Map<string, number>()
  const about = entries.flatMap(({ alertId, incidentId }) => (column === 'alert_id' ? alertId : incidentId) ?? [])
  for (const ids of chunksOf([...new Set(about)])) {
    const rows = await trx
      .selectFrom('deliveries')
      .select(`${column} as about`)
      .select(({ fn }) => fn.max('id').as('id'))
      .where(column, 'in', ids)
      .where('id', '>=', firstIdAt(now + 1))
      .groupBy(column)
      .execute()
    for (const { about, id } of rows) if (about !== null) latest.set(about, timeOfId(id))
  }
  return latest
}

/**
 * Drops reminders of alerts that still have a pending message on the same channel: one that fails for a night would have to send
 * them all in the morning, and each says the same as the next. A reminder that passes an incident on to the next person stays.
 */
async function worthReminding(trx: Transaction<Tables>, entries: readonly OutboxEntry[]): Promise<OutboxEntry[]> {
  const isPlain = ({ message }: OutboxEntry) => message.kind === 'reminder' && (message.incident?.note ?? null) === null
  const waiting = new Set<string>()
  for (const ids of chunksOf(entries.flatMap((entry) => (isPlain(entry) ? (entry.alertId ?? []) : [])))) {
    const rows = await trx
      .selectFrom('deliveries')
      .select(['channel', 'alert_id'])
      .where('alert_id', 'in', ids)
      .where('state', '=', 'pending')
      .execute()
    for (const { channel, alert_id } of rows) waiting.add(`${channel} ${alert_id}`)
  }
  return entries.filter((entry) => !isPlain(entry) || !waiting.has(`${entry.channel.key} ${entry.alertId}`))
}

/** Releases what is held back about alerts that get an urgent message, so that no one is notified of an escalation before its opening. */
async function release(trx: Transaction<Tables>, entries: readonly OutboxEntry[], now: number): Promise<void> {
  const isUrgent = ({ heldUntil = null, holdMs = 0, alertId, message: { kind } }: OutboxEntry) =>
    heldUntil === null && holdMs === 0 && alertId !== null && !CALMING.includes(kind)
  const urgent = entries.filter(isUrgent)
  for (const [channel, ofChannel] of Map.groupBy(urgent, ({ channel: { key } }) => key)) {
    const alertIds = ofChannel.flatMap(({ alertId }) => alertId ?? [])
    await releaseHeld(trx, alertIds, now, channel)
  }
}

/** Makes messages due that quiet hours, or the delay of warnings, hold back about these alerts, on one channel or on all. */
export async function releaseHeld(
  trx: Transaction<Tables>,
  alertIds: readonly string[],
  now: number,
  channel?: ChannelKey,
): Promise<void> {
  for (const ids of chunksOf(alertIds)) {
    const held = trx
      .updateTable('deliveries')
      .set({ not_before: now })
      .where('alert_id', 'in', ids)
      .where('state', '=', 'pending')
      .where('not_before', '>', now + GATHER_MS)
    await (channel === undefined ? held : held.where('channel', '=', channel)).execute()
  }
}

/**
 * Makes a pending end due at another time.
 *
 * @param due epoch ms
 */
export async function moveEnd(trx: Transaction<Tables>, id: string, due: number): Promise<void> {
  await trx
    .updateTable('deliveries')
    .set({ not_before: due })
    .where('id', '=', id)
    .where('kind', '=', 'resolved')
    .where(isUnsent)
    .execute()
}

/** Returns the alerts whose openings are held back and due before `to`, epoch ms. */
export async function heldOpenings({ read }: Pick<Store, 'read'>, now: number, to: number): Promise<string[]> {
  // No `distinct`: with it SQLite reads every message, through the index on `alert_id`.
  const rows = await read
    .selectFrom('deliveries')
    .select('alert_id')
    .where(sql<boolean>`state = 'pending'`)
    .where('kind', '=', 'opened')
    .where('not_before', '>', now)
    .where('not_before', '<', to)
    .where('attempts', '=', 0)
    .where('group_id', 'is', null)
    .execute()
  return [...new Set(rows.flatMap(({ alert_id }) => alert_id ?? []))]
}

/** Holds openings that are held back anyway until a later time. */
export async function postponeOpenings(
  trx: Transaction<Tables>,
  alertIds: readonly string[],
  now: number,
  until: number,
): Promise<void> {
  for (const ids of chunksOf(alertIds)) {
    await trx
      .updateTable('deliveries')
      .set({ not_before: until })
      .where('alert_id', 'in', ids)
      .where('kind', '=', 'opened')
      .where(isUnsent)
      .where('not_before', '>', now)
      .where('not_before', '<', until)
      .execute()
  }
}

/** Rows deleted in one transaction: a few milliseconds of the writer's time. */
const ROWS_PER_STEP = 500

/**
 * Deletes messages past their retention, in small steps. Any node may run it. Pending messages stay: someone has asked for them by
 * hand.
 *
 * @param days for which messages are kept
 */
export async function clearDeliveries(
  store: Store,
  days: number,
  now: number,
  shouldContinue: () => boolean,
): Promise<void> {
  const old = firstIdAt(now - days * DAY)
  await untilDone(() => clearBelow(store, old), shouldContinue)
}

/** Deletes the oldest messages below an id, and returns whether there may be more. */
async function clearBelow({ read, write }: Store, id: string): Promise<boolean> {
  const rows = await read
    .selectFrom('deliveries')
    .select('id')
    .where('id', '<', id)
    .where('state', '<>', 'pending')
    .orderBy('id')
    .limit(ROWS_PER_STEP)
    .execute()
  const last = rows.at(-1)
  if (last === undefined) return false
  await write.deleteFrom('deliveries').where('id', '<=', last.id).where('state', '<>', 'pending').execute()
  return rows.length === ROWS_PER_STEP
}

/**
 * Cancels messages that are not settled yet, because one message about all of it is sent on that channel instead. What is about to
 * be sent is still sent.
 */
export async function withdrawMessages(
  trx: Transaction<Tables>,
  channel: ChannelKey,
  alertIds: readonly string[],
  reason: string,
): Promise<void> {
  for (const ids of chunksOf(alertIds)) {
    await trx
      .updateTable('deliveries')
      .set({ state: 'cancelled', last_error: reason })
      .where('channel', '=', channel)
      .where('alert_id', 'in', ids)
      .where(isUnsent)
      .execute()
  }
}

/**
 * Adds to pending messages about an incident what became known meanwhile. Settled ones stay as they are, so that the same is sent
 * again after a crash.
 */
export async function amendMessages(
  trx: Transaction<Tables>,
  alertId: string,
  known: Pick<MessageIncident, 'impact'>,
): Promise<void> {
  const waiting = await trx
    .selectFrom('deliveries')
    .select(['id', 'message'])
    .where('alert_id', '=', alertId)
    .where('state', '=', 'pending')
    .where('group_id', 'is', null)
    .where('kind', 'in', GATHERED_KINDS)
    .execute()
  for (const { id, message } of waiting) {
    const written = JSON.parse(message) as AlertMessage
    if (written.incident === undefined) continue
    await trx
      .updateTable('deliveries')
      .set({ message: JSON.stringify({ ...written, incident: { ...written.incident, ...known } }) })
      .where('id', '=', id)
      .where('state', '=', 'pending')
      .where('group_id', 'is', null)
      .execute()
  }
}
