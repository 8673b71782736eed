import { sql } from 'kysely'
import { newOrderedId } from '../lib/index.ts'
import {
  type AlertMessageKind,
  channelInWords,
  type DeliveredHook,
  enqueue,
  releaseHeld,
  sayCritical,
} from '../notifications/index.ts'
import {
  type AlertRow,
  type BatchOperation,
  chunksOf,
  type Store,
  type Tables,
  type Transaction,
} from '../store/index.ts'
import { endFeedback } from './feedback-rows.ts'
import type { DueMessage, PendingTransition } from './incidents/due-messages.ts'
import { throughIncidents } from './incidents/write-incidents.ts'
import { entriesOf } from './message-entries.ts'
import type { AlertContext } from './rules.ts'
import { endResolvedSilences } from './silences/silences.ts'

/** Returns the unresolved alerts of these probes, locked until the transaction ends. */
export async function lockUnresolved(
  trx: Transaction<Tables>,
  { isShared }: Pick<Store, 'isShared'>,
  probeIds: readonly string[],
): Promise<AlertRow[]> {
  const alerts: AlertRow[] = []
  for (const ids of chunksOf(probeIds)) {
    const rows = await trx
      .selectFrom('alerts')
      .selectAll()
      .where('probe_id', 'in', ids)
      .where('state', '<>', 'resolved')
      // Everyone locks in this order, so that two transactions never deadlock.
      .orderBy('probe_id')
      .orderBy('subject')
      .$if(isShared, (query) => query.forUpdate())
      .execute()
    alerts.push(...rows)
  }
  return alerts
}

/** Returns an alert, unresolved or not, locked until the transaction ends. */
export async function lockAlert(trx: Transaction<Tables>, id: string): Promise<AlertRow | undefined> {
  return trx
    .updateTable('alerts')
    .set(({ ref }) => ({ title: ref('title') }))
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirst()
}

/** Columns that an update must not overwrite. */
const FIXED: readonly (keyof AlertRow)[] = [
  'id',
  'client_id',
  'site_id',
  'probe_id',
  'probe_type',
  'subject',
  'opened_at',
  // Written by `noteDelivered` alone.
  'first_notified_at',
  'last_notified_at',
]

/**
 * Writes what happened to alerts: their rows, timelines, incidents and messages. It takes a few statements, however many alerts
 * there are, and runs in the transaction of whatever caused the changes.
 *
 * @throws StoreError `unique` when another alert for the same probe and subject is unresolved; the transaction must then be rolled
 * back
 */
export async function writeTransitions(
  trx: Transaction<Tables>,
  store: Pick<Store, 'isShared'>,
  given: readonly PendingTransition[],
  context: AlertContext,
): Promise<void> {
  const { now } = context
  const { pending, due, critical } = await throughIncidents(trx, store, given, context)
  const changed = pending.filter(({ before, transition }) => transition.alert !== before)
  await saveAlerts(
    trx,
    changed.flatMap(({ transition }) => transition.alert ?? []),
  )
  const events = pending.flatMap(({ transition: { alert, events: happened } }) =>
    alert === null ? [] : happened.map((event) => ({ alert_id: alert.id, id: newOrderedId(now), at: now, ...event })),
  )
  for (const chunk of chunksOf(events)) await trx.insertInto('alert_events').values(chunk).execute()
  await sayCritical(trx, critical)
  await releaseHeld(
    trx,
    [...critical].flatMap(([id, { isMuted }]) => (isMuted ? [] : id)),
    now,
  )
  const entries = await entriesOf(trx, due, context.channelSettings, now)
  const written = new Set(entries.map(({ alertId }) => alertId))
  await noteBack(trx, due, written, now)
  await noteKnown(trx, pending, due, written)
  await enqueue(trx, entries, now)
  const resolved = changed.flatMap(({ transition: { alert } }) => (alert?.state === 'resolved' ? alert.id : []))
  if (resolved.length === 0) return
  await endResolvedSilences(trx, now)
  await endFeedback(trx, resolved, now)
}

/** Notes when it was last written that an incident is back, so that it is written again if that reaches no one. */
async function noteBack(
  trx: Transaction<Tables>,
  due: readonly DueMessage[],
  written: ReadonlySet<string | null>,
  now: number,
): Promise<void> {
  const back = due.filter(({ kind, alert, known }) => {
    return kind === 'opened' && known.row.last_announced_at !== now && written.has(alert.id)
  })
  for (const ids of chunksOf(back.map(({ known }) => known.row.id))) {
    await trx.updateTable('incidents').set({ last_announced_at: now }).where('id', 'in', ids).execute()
  }
}

/**
 * Takes back that an incident was announced as critical where every channel knew that: reminders would wait for the delivery of a
 * message that no one wrote.
 */
async function noteKnown(
  trx: Transaction<Tables>,
  pending: readonly PendingTransition[],
  due: readonly DueMessage[],
  written: ReadonlySet<string | null>,
): Promise<void> {
  const known = due.filter(
    ({ kind, alert, isRepeat }) => kind === 'escalated' && isRepeat !== true && !written.has(alert.id),
  )
  if (known.length === 0) return
  const incidentIds = known.map((message) => message.known.row.id)
  // Of these alone it is certain that they are locked.
  const alertIds = pending.flatMap(({ transition: { alert } }) =>
    alert !== null && incidentIds.includes(alert.incident_id ?? '') ? alert.id : [],
  )
  for (const [table, all] of [
    ['alerts', alertIds],
    ['incidents', incidentIds],
  ] as const) {
    const asNotified = trx.updateTable(table).set({ last_announced_at: sql`last_notified_at` })
    for (const ids of chunksOf(all)) {
      await asNotified.where('id', 'in', ids).where('last_notified_at', 'is not', null).execute()
    }
  }
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

/** The timeline's text for each message that reached someone. */
const NOTIFIED: Readonly<Record<AlertMessageKind, string>> = {
  opened: 'Notified: open',
  escalated: 'Notified: now critical',
  widened: 'Notified: more events are bad',
  flapping: 'Notified: flapping; paused until it is steady',
  explained: 'Notified: cause found',
  reminder: 'Reminded',
  acknowledged: 'Notified: acknowledged',
  unacknowledged: 'Notified: no longer acknowledged',
  resolved: 'Notified: resolved',
}

/**
 * Notes in alerts when people were notified. Repeating it changes nothing, because the operations are the same; an alert that was
 * deleted meanwhile stays deleted.
 */
export const noteDelivered =
  ({ write, isShared }: Pick<Store, 'write' | 'isShared'>): DeliveredHook =>
  (delivered) => {
    const [first] = delivered
    if (first === undefined) return []
    const alertIds = [...new Set(delivered.map(({ alertId }) => alertId))]
    // In the order in which results lock them, so that the two never wait for each other.
    const locked = write
      .selectFrom('alerts')
      .select('id')
      .where('id', 'in', alertIds)
      .$if(isShared, (query) => query.orderBy('probe_id').orderBy('subject').forUpdate())
    const notified = write
      .updateTable('alerts')
      .set(({ ref, fn, val }) => ({
        first_notified_at: fn.coalesce(ref('first_notified_at'), val(first.at)),
        last_notified_at: first.at,
      }))
      .where('id', 'in', locked)
    // Alerts first, then incidents, as everywhere.
    const ofIncidents = write
      .updateTable('incidents')
      .set({ last_notified_at: first.at })
      .where(
        'id',
        'in',
        write
          .selectFrom('incidents')
          .select('id')
          .where('announced_alert_id', 'in', alertIds)
          .where('state', '<>', 'resolved')
          .$if(isShared, (query) => query.orderBy('id').forUpdate()),
      )
    const entries = delivered.flatMap(({ alertId, kind, at, ...where }) => {
      const id = newOrderedId(at)
      const text = textOf(kind, channelInWords(where))
      return [
        sql`insert into alert_events (alert_id, id, at, kind, actor, text)
          select alerts.id, ${id}, cast(${at} as bigint), 'notified', null, ${text}
          from alerts where alerts.id = ${alertId}
          on conflict (alert_id, id) do nothing`,
        sql`insert into incident_events (incident_id, id, at, kind, actor, text)
          select incidents.id, ${id}, cast(${at} as bigint), 'notified', null, ${text}
          from incidents where incidents.announced_alert_id = ${alertId}
          on conflict (incident_id, id) do nothing`,
      ]
    })
    return [notified.compile(), ofIncidents.compile(), ...entries.map((entry) => entry.compile(write))].map(
      (query): BatchOperation => ({ kind: 'statement', query }),
    )
  }

const textOf = (kind: string, where: string): string =>
  `${kind in NOTIFIED ? NOTIFIED[kind as AlertMessageKind] : 'Notified'}, by ${where}`
