import { MINUTE } from '../lib/index.ts'
import { chunksOf, type Tables, type Transaction } from '../store/index.ts'
import type { AlertMessage } from './message.ts'
import { GATHER_MS, notBefore, type OutboxEntry } from './outbox-entry.ts'

/**
 * How long people are not notified of a warning yet. In simulated agencies three in ten of them became critical or ended within this
 * time: each of these is one message instead of two.
 */
export const WARNING_WAIT_MS = 30 * MINUTE

/** What waits to be said of an alert's beginning, and what is said now, as one message; null where they stay two. */
export function mergedWith(opening: AlertMessage, next: AlertMessage): AlertMessage | null {
  switch (next.kind) {
    case 'resolved':
      return { ...next, untold: opening }
    case 'escalated':
    case 'explained':
    case 'widened':
      return { ...next, kind: 'opened' }
    default:
      return null
  }
}

/**
 * Makes one message of an opening that no one was sent yet and what follows it. What is being sent stays as it is.
 *
 * @returns what is a message of its own
 */
export async function mergeIntoOpenings(
  trx: Transaction<Tables>,
  entries: readonly OutboxEntry[],
  now: number,
): Promise<OutboxEntry[]> {
  const alertIds = [...new Set(entries.flatMap(({ merges, alertId }) => (merges ? (alertId ?? []) : [])))]
  const openings = new Map<string, { id: string; opening: AlertMessage; not_before: number }>()
  for (const ids of chunksOf(alertIds)) {
    const rows = await trx
      .selectFrom('deliveries')
      .select(['id', 'channel', 'alert_id', 'message', 'not_before'])
      .where('alert_id', 'in', ids)
      .where('kind', '=', 'opened')
      .where('state', '=', 'pending')
      .where('group_id', 'is', null)
      .where('attempts', '=', 0)
      .execute()
    for (const { id, channel, alert_id, message, not_before } of rows) {
      openings.set(`${channel} ${alert_id}`, { id, opening: JSON.parse(message) as AlertMessage, not_before })
    }
  }
  const left: OutboxEntry[] = []
  for (const entry of entries) {
    const known = entry.merges ? openings.get(`${entry.channel.key} ${entry.alertId}`) : undefined
    const isMerged = known !== undefined && (await merge(trx, known, entry, now))
    if (!isMerged && entry.onlyMerged !== true) left.push(entry)
  }
  return left
}

async function merge(
  trx: Transaction<Tables>,
  known: { id: string; opening: AlertMessage; not_before: number },
  { message, heldUntil = null, holdMs = 0 }: OutboxEntry,
  now: number,
): Promise<boolean> {
  const merged = 'alert' in message ? mergedWith(known.opening, message) : null
  if (merged === null) return false
  // What has become critical waits no longer.
  const urgent = heldUntil ?? now + GATHER_MS
  const soonest = message.kind === 'escalated' ? Math.min(known.not_before, urgent) : known.not_before
  const due = message.kind === 'resolved' ? notBefore('resolved', heldUntil, holdMs, now) : soonest
  const { numUpdatedRows } = await trx
    .updateTable('deliveries')
    .set({ kind: merged.kind, message: JSON.stringify(merged), not_before: due })
    .where('id', '=', known.id)
    .where('state', '=', 'pending')
    .where('group_id', 'is', null)
    .where('attempts', '=', 0)
    .executeTakeFirstOrThrow()
  if (numUpdatedRows === 0n) return false
  if (merged.kind === 'opened') known.opening = merged
  return true
}

/** Where people were to be notified of an end alone, of what is bad again they are to be notified as if it had not ended. */
export async function restoreOpenings(trx: Transaction<Tables>, alertId: string, now: number): Promise<boolean> {
  const rows = await trx
    .selectFrom('deliveries')
    .select(['id', 'message'])
    .where('alert_id', '=', alertId)
    .where('kind', '=', 'resolved')
    .where('state', '=', 'pending')
    .where('group_id', 'is', null)
    .where('attempts', '=', 0)
    .execute()
  let restored = 0n
  for (const { id, message } of rows) {
    const { untold } = JSON.parse(message) as AlertMessage
    if (untold === undefined) continue
    const { numUpdatedRows } = await trx
      .updateTable('deliveries')
      .set({ kind: 'opened', message: JSON.stringify(untold), not_before: now + GATHER_MS })
      .where('id', '=', id)
      .where('state', '=', 'pending')
      .where('group_id', 'is', null)
      .executeTakeFirstOrThrow()
    restored += numUpdatedRows
  }
  return restored > 0n
}
