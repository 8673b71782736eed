import { sql } from 'kysely'
import { newOrderedId } from '../lib/index.ts'
import { channelsOf, enqueue, type OutboxEntry, type Reach } from '../notifications/index.ts'
import { type AlertRow, chunksOf, type Tables, type Transaction } from '../store/index.ts'
import { alertMessage } from './alert-message.ts'
import { type AlertSource, changesBefore } from './context.ts'
import type { Transition } from './machine.ts'
import { endResolvedSilences } from './silences/within.ts'

/** A transition that is to be written. Without a source there is no one to notify. */
export interface PendingTransition {
  before: AlertRow | null
  transition: Transition
  source: AlertSource | undefined
}

/** What an alert never changes once it is there. */
const FIXED: readonly (keyof AlertRow)[] = [
  'id',
  'client_id',
  'site_id',
  'probe_id',
  'probe_type',
  'subject',
  'opened_at',
  // Delivery alone writes these, once a message was delivered.
  'first_notified_at',
  'last_notified_at',
]

/**
 * Writes what became of alerts: they themselves, their timelines, and the messages. A few statements whatever their number, in the
 * transaction of what it follows from.
 *
 * @throws StoreError `unique` when another alert for the same probe and subject is unresolved: nothing of it may be kept then
 */
export async function writeTransitions(
  trx: Transaction<Tables>,
  pending: readonly PendingTransition[],
  reach: Reach,
  now: number,
): Promise<void> {
  const changed = pending.filter(({ before, transition }) => transition.alert !== before)
  await saveAlerts(
    trx,
    changed.flatMap(({ transition }) => transition.alert ?? []),
  )
  const events = pending.flatMap(({ transition: { alert, events: happened } }) =>
    alert === null ? [] : happened.map((event) => ({ alert_id: alert.id, id: newOrderedId(now), at: now, ...event })),
  )
  for (const chunk of chunksOf(events)) await trx.insertInto('alert_events').values(chunk).execute()
  await enqueue(trx, await messagesOf(trx, pending, reach), now)
  if (changed.some(({ transition }) => transition.alert?.state === 'resolved')) await endResolvedSilences(trx, now)
}

async function saveAlerts(trx: Transaction<Tables>, alerts: readonly AlertRow[]): Promise<void> {
  for (const chunk of chunksOf(alerts)) {
    await trx
      .insertInto('alerts')
      .values(chunk)
      .onConflict((conflict) =>
        conflict.column('id').doUpdateSet(() => {
          const names = Object.keys(chunk[0] ?? {}).filter((name) => !FIXED.some((fixed) => fixed === name))
          return Object.fromEntries(names.map((name) => [name, sql.ref(`excluded.${name}`)]))
        }),
      )
      .execute()
  }
}

async function messagesOf(
  trx: Transaction<Tables>,
  pending: readonly PendingTransition[],
  reach: Reach,
): Promise<OutboxEntry[]> {
  const due = pending.flatMap(({ before, transition: { alert, message, events }, source }) => {
    if (alert === null || message === null || source === undefined) return []
    const resolvedBy = events.find(({ kind }) => kind === 'resolved')?.actor ?? null
    return [{ before, alert, message, source, resolvedBy }]
  })
  if (due.length === 0) return []
  const changes = await changesBefore(
    trx,
    due.map(({ alert }) => alert),
  )
  return due.flatMap(({ before, alert, message, source, resolvedBy }) =>
    channelsOf({ client: source.client, ...reach }).map((channel) => ({
      channel,
      clientId: source.client.id,
      alertId: alert.id,
      message: alertMessage(message, before, alert, source, changes.get(alert.id), resolvedBy),
    })),
  )
}
