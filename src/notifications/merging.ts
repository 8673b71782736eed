import { chunksOf, type Kysely, type Tables, type Transaction } from '../store/index.ts'
import { ALSO_ON, type AlertMessage, FACTS_MAX, type Fact, isEndOfChannel } from './message.ts'
import { BRIEF, GATHER_MS, isUnsent, notBefore, type OutboxEntry } from './outbox-entry.ts'

/** A pending opening that was sent to no one. Times are epoch ms. */
interface Waiting {
  id: string
  opening: AlertMessage
  createdAt: number
  notBefore: number
  /** Whether an earlier opening was sent there, and no end: that one came within a silence. */
  isReturn: boolean
}

/** Merges a pending opening and the next message about the alert into one; null when they stay two. */
function mergedWith({ opening, notBefore: due }: Waiting, next: AlertMessage): AlertMessage | null {
  switch (next.kind) {
    case 'resolved':
      return { ...next, untold: { opening, due } }
    case 'escalated':
    case 'explained':
    case 'widened':
      return { ...next, ...withEarlierNote(opening, next), kind: 'opened', facts: withEarlierEvents(opening, next) }
    case 'flapping':
      // It stays an opening: a silence holds it, and an end before it is due withdraws it.
      return { ...next, ...withEarlierNote(opening, withNote(next, FLAPPING)), kind: 'opened' }
    case 'reminder':
      // The opening, which no one was sent yet, says as much as its reminder, except to whom the incident was passed on.
      return typeof next.incident?.note === 'string'
        ? { ...next, ...withEarlierNote(opening, next), kind: 'opened' }
        : opening
    default:
      return null
  }
}

const FLAPPING = 'It is flapping: notifications pause until it is steady'

const withNote = (message: AlertMessage, note: string): AlertMessage =>
  message.incident === undefined ? message : { ...message, incident: { ...message.incident, note } }

/** Returns the incident of the next message, with the opening's note too, such as that it is back. */
function withEarlierNote(opening: AlertMessage, { incident }: AlertMessage): Pick<AlertMessage, 'incident'> {
  const notes = [opening.incident?.note, incident?.note].filter((note) => typeof note === 'string')
  return incident === undefined || notes.length === 0 ? {} : { incident: { ...incident, note: notes.join('. ') } }
}

/** Returns the facts of the next message, with the events that were added to the opening while it was pending. */
function withEarlierEvents(opening: AlertMessage, next: AlertMessage): readonly Fact[] {
  const added = [opening, next].flatMap(({ facts }) => facts.filter(({ name }) => name === ALSO_ON))
  if (added.length === 0) return next.facts
  const all = { name: ALSO_ON, value: added.map(({ value }) => value).join(', ') }
  return [all, ...next.facts.filter(({ name }) => name !== ALSO_ON)].slice(0, FACTS_MAX)
}

/**
 * Merges messages into pending openings about the same alert and channel. A warning that ends before its opening was due is not
 * sent at all. Messages on their way stay as they are.
 *
 * @returns the entries that stay messages of their own
 */
export async function mergeIntoOpenings(
  trx: Transaction<Tables>,
  entries: readonly OutboxEntry[],
  now: number,
): Promise<OutboxEntry[]> {
  const alertIds = [
    ...new Set(entries.flatMap(({ merging, alertId }) => (merging === undefined ? [] : (alertId ?? [])))),
  ]
  const openings = new Map<string, Waiting>()
  for (const ids of chunksOf(alertIds)) {
    const rows = await trx
      .selectFrom('deliveries')
      .select(['id', 'channel', 'alert_id', 'message', 'created_at', 'not_before'])
      .where('alert_id', 'in', ids)
      .where('kind', '=', 'opened')
      .where(isUnsent)
      .execute()
    const returned = rows.length === 0 ? new Set<string>() : await openOn(trx, ids)
    for (const { id, channel, alert_id, message, created_at, not_before } of rows) {
      const opening = JSON.parse(message) as AlertMessage
      const waiting = { id, opening, createdAt: created_at, notBefore: not_before }
      openings.set(`${channel} ${alert_id}`, { ...waiting, isReturn: returned.has(`${channel} ${alert_id}`) })
    }
  }
  const left: OutboxEntry[] = []
  for (const entry of entries) {
    const known = entry.merging === undefined ? undefined : openings.get(`${entry.channel.key} ${entry.alertId}`)
    const isMerged = known !== undefined && (await merge(trx, known, entry, now))
    if (!isMerged && entry.merging?.isOnly !== true) left.push(entry)
  }
  return left
}

/** Returns the channels, each with its alert, where the last delivered message about the alert was no end. */
async function openOn(trx: Transaction<Tables>, alertIds: readonly string[]): Promise<ReadonlySet<string>> {
  const rows = await trx
    .selectFrom('deliveries')
    .select(['channel', 'alert_id', 'kind'])
    .where('alert_id', 'in', alertIds)
    .where('state', '=', 'delivered')
    .orderBy('id')
    .execute()
  const last = new Map(rows.map(({ channel, alert_id, kind }) => [`${channel} ${alert_id}`, kind]))
  return new Set([...last].flatMap(([about, kind]) => (kind === 'resolved' ? [] : about)))
}

async function merge(trx: Transaction<Tables>, known: Waiting, entry: OutboxEntry, now: number): Promise<boolean> {
  const { message } = entry
  const merged = 'alert' in message ? mergedWith(known, message) : null
  if (merged === null) return false
  const { numUpdatedRows } = await trx
    .updateTable('deliveries')
    .set(merged.kind === 'resolved' ? endOf(known, merged, entry, now) : followUp(known, merged, entry, now))
    .where('id', '=', known.id)
    .where('kind', '=', 'opened')
    .where(isUnsent)
    .executeTakeFirstOrThrow()
  if (numUpdatedRows === 0n) return false
  known.opening = merged
  return true
}

function followUp(known: Waiting, merged: AlertMessage, { heldUntil = null, merging }: OutboxEntry, now: number) {
  // What has become critical, or turned out to be the site's own, is sent without further delay.
  const urgent = heldUntil ?? now + GATHER_MS
  const isUrgent = merged.alert.severity === 'critical' && merging?.isHeld !== true
  const due = isUrgent ? Math.min(known.notBefore, urgent) : known.notBefore
  return { message: JSON.stringify(merged), not_before: due }
}

/**
 * Returns the columns of an opening that has ended. A warning that ended before it was due is not sent, unless it is bad again
 * before its end is certain, or its channel believes since an earlier opening that it lasts.
 */
function endOf(known: Waiting, merged: AlertMessage, entry: OutboxEntry, now: number) {
  const { heldUntil = null, holdMs = 0, merging = { isOnly: false, briefMs: 0, certainMs: 0 } } = entry
  const message = JSON.stringify(merged)
  const isWarning = known.opening.alert.severity === 'warning' && now < known.createdAt + merging.briefMs
  const isBrief = isWarning || (merging.isHeld === true && now < known.notBefore)
  if (!isBrief || known.isReturn)
    return { kind: 'resolved', message, not_before: notBefore('resolved', heldUntil, holdMs, now) }
  return merging.certainMs === 0
    ? { kind: BRIEF.kind, state: 'cancelled', last_error: BRIEF.reason }
    : { kind: BRIEF.kind, message, not_before: now + merging.certainMs }
}

/**
 * Withdraws the end of an alert that is bad again on all channels that were not sent it yet. Openings whose end came before they were
 * sent are pending again: people are notified as if it had not ended.
 *
 * @param heldUntil end of the client's quiet hours, for these openings
 * @returns these channels
 */
export async function withdrawEnd(
  trx: Transaction<Tables>,
  alertId: string,
  now: number,
  heldUntil: number | null = null,
): Promise<ReadonlySet<string>> {
  const rows = await trx
    .selectFrom('deliveries')
    .select(['id', 'channel', 'message'])
    .where('alert_id', '=', alertId)
    .where('kind', 'in', ['resolved', BRIEF.kind])
    .where(isUnsent)
    .execute()
  const withdrawn = new Set<string>()
  for (const { id, channel, message } of rows) {
    const end = JSON.parse(message) as AlertMessage
    const { untold } = end
    // The end for a deleted channel, or under a previous key, stays valid.
    if (isEndOfChannel(end)) continue
    const { numUpdatedRows } = await trx
      .updateTable('deliveries')
      .set(
        untold === undefined
          ? { state: 'cancelled', last_error: 'it is bad again' }
          : {
              kind: 'opened',
              message: JSON.stringify(untold.opening),
              not_before: Math.max(untold.due, now + GATHER_MS, channel === 'global' ? now : (heldUntil ?? now)),
            },
      )
      .where('id', '=', id)
      .where(isUnsent)
      .executeTakeFirstOrThrow()
    if (numUpdatedRows > 0n) withdrawn.add(channel)
  }
  return withdrawn
}

/** Makes openings that were sent to no one say that it is critical now, whether or not the client wants escalations. */
export async function sayCritical(
  trx: Transaction<Tables>,
  critical: ReadonlyMap<string, { title: string }>,
): Promise<void> {
  for (const ids of chunksOf([...critical.keys()])) {
    const rows = await trx
      .selectFrom('deliveries')
      .select(['id', 'alert_id', 'message'])
      .where('alert_id', 'in', ids)
      .where('kind', '=', 'opened')
      .where(isUnsent)
      .execute()
    for (const { id, alert_id, message } of rows) {
      const said = JSON.parse(message) as AlertMessage
      const title = critical.get(alert_id ?? '')?.title ?? said.alert.title
      await trx
        .updateTable('deliveries')
        .set({ message: JSON.stringify({ ...said, alert: { ...said.alert, severity: 'critical', title } }) })
        .where('id', '=', id)
        .where(isUnsent)
        .execute()
    }
  }
}

/** Returns those of these alerts that ended before their messages were due, so that these were not sent. */
export async function briefOnes(db: Kysely<Tables>, alertIds: readonly string[]): Promise<ReadonlySet<string>> {
  const brief = new Set<string>()
  for (const ids of chunksOf(alertIds)) {
    const rows = await db
      .selectFrom('deliveries')
      .select('alert_id')
      .distinct()
      .where('alert_id', 'in', ids)
      .where('state', '=', 'cancelled')
      .where('kind', '=', BRIEF.kind)
      .execute()
    for (const { alert_id } of rows) if (alert_id !== null) brief.add(alert_id)
  }
  return brief
}
