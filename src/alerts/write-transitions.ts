import { sql } from 'kysely'
import { vendorName } from '../analytics/index.ts'
import { HOUR, newOrderedId } from '../lib/index.ts'
import {
  type AlertMessageKind,
  type Channel,
  type ChannelSettings,
  channelInWords,
  channelsOf,
  channelsOfPeople,
  channelsOnCall,
  channelsTold,
  type DeliveredHook,
  enqueue,
  gathersEnds,
  isForIncidents,
  isForPeople,
  kindOf,
  type OutboxEntry,
  quietUntil,
  releaseHeld,
  sayCritical,
  type ServiceKind,
  takesMessage,
  takesSeverity,
  whoIsOnCall,
} from '../notifications/index.ts'
import {
  type AlertRow,
  type BatchOperation,
  chunksOf,
  type Store,
  type Tables,
  type Transaction,
} from '../store/index.ts'
import { alertMessage, changesBefore } from './alert-message.ts'
import { endFeedback } from './feedback-rows.ts'
import type { DueMessage } from './incidents/due-messages.ts'
import { type PendingTransition, throughIncidents } from './incidents/write-incidents.ts'
import type { AlertContext, AlertSource } from './rules.ts'
import { endResolvedSilences } from './silences/silences.ts'

/** The unresolved alerts of these probes, locked until the transaction ends. */
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
      // In one order for all, so that two transactions never wait for each other.
      .orderBy('probe_id')
      .orderBy('subject')
      .$if(isShared, (query) => query.forUpdate())
      .execute()
    alerts.push(...rows)
  }
  return alerts
}

/** One alert, unresolved or not, locked until the transaction ends. */
export async function lockAlert(trx: Transaction<Tables>, id: string): Promise<AlertRow | undefined> {
  return trx
    .updateTable('alerts')
    .set(({ ref }) => ({ title: ref('title') }))
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirst()
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
 * Writes what became of alerts: they themselves, their timelines, their incidents and the messages. A few statements whatever their
 * number, in the transaction of what it follows from.
 *
 * @throws StoreError `unique` when another alert for the same probe and subject is unresolved: nothing of it may be kept then
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
  await enqueue(trx, await entriesOf(trx, due, context.channelSettings, now), now)
  const resolved = changed.flatMap(({ transition: { alert } }) => (alert?.state === 'resolved' ? alert.id : []))
  if (resolved.length === 0) return
  await endResolvedSilences(trx, now)
  await endFeedback(trx, resolved, now)
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

/** One for each channel of the client; where a vendor's incident speaks to the operator, without theirs. */
export async function entriesOf(
  trx: Transaction<Tables>,
  due: readonly DueMessage[],
  channelSettings: ChannelSettings,
  now: number,
): Promise<OutboxEntry[]> {
  if (due.length === 0) return []
  const changes = await changesBefore(
    trx,
    due.map(({ alert }) => alert),
  )
  const vendors = await vendorsOf(
    trx,
    due.flatMap(({ known }) => known.row.parent_id ?? []),
  )
  const ends = due.filter(({ kind }) => QUIETENS.includes(kind))
  const told = await channelsTold(
    trx,
    ends.map(({ alert }) => alert.id),
  )
  return due.flatMap((message) => {
    const { source, alert, known, kind } = message
    const vendor = vendors.get(known.row.parent_id ?? '')
    const elsewhere = vendor === undefined ? null : vendorName(vendor)
    // Beginning and end belong together: where the one was withdrawn, the other is cancelled before it is sent.
    const isForOperator = vendor === undefined || kind === 'opened' || kind === 'resolved'
    // One that was critical is so until its end.
    const isCritical = alert.severity === 'critical' || known.row.notified_severity === 'critical'
    const heldUntil = isCritical ? null : quietEndOf(source, now)
    return (
      channelsFor(message, channelSettings, told.get(alert.id), now)
        .filter(({ key }) => (isForOperator || key !== 'global') && message.knowing?.has(key) !== true)
        .filter(
          ({ key, address }) => hears(kindOf(key, address), message) || isForUntold(kindOf(key, address), message),
        )
        // One that was added meanwhile knows of no beginning.
        .filter(({ key }) => !QUIETENS.includes(kind) || told.get(alert.id)?.has(key) !== false)
        // To a channel for what is critical the escalation is the opening, whatever the client wants of escalations.
        .filter(
          ({ minimumSeverity }) => kind !== 'escalated' || source.notifyAllEscalated || minimumSeverity === 'critical',
        )
        .filter((channel) => takesSeverity(channel, isCritical ? 'critical' : 'warning'))
        .map((channel) => ({
          channel,
          clientId: source.client.id,
          alertId: alert.id,
          heldUntil: knowsQuietHours(channel, kind) ? heldUntil : null,
          ...pacingOf(channel, message, isCritical, channelSettings.warningsAfterMs ?? 0),
          message: alertMessage(message, changes.get(alert.id), elsewhere, onCallName(message, now)),
        }))
    )
  })
}

/** Those of the client, and of its people the one on call. How it ends is sent to all who were notified of it. */
function channelsFor(
  { only, source: { client }, kind }: DueMessage,
  channelSettings: ChannelSettings,
  told: ReadonlySet<string> | undefined,
  now: number,
): readonly Channel[] {
  if (only !== undefined) return only.channels
  const recipients = { client, ...channelSettings }
  const personal = QUIETENS.includes(kind)
    ? channelsOfPeople(recipients).filter(({ key }) => told?.has(key) === true)
    : channelsOnCall(recipients, now)
  return [...channelsOf(recipients), ...personal]
}

/** Of what is over no one has to take care. */
function onCallName({ only, source, kind }: DueMessage, now: number): string | null {
  const plan = source.client.onCall ?? null
  if (only !== undefined) return only.name
  if (plan === null || QUIETENS.includes(kind)) return null
  return whoIsOnCall(plan.rotation, plan.overrides, now)?.person.name ?? null
}

/** Ends wait so long for company on the operator's channel: any opening that goes out there takes them along. */
const ENDS_WAIT_MS = 12 * HOUR

/**
 * How long a message waits on a channel that people read, whom too many messages tire: a warning for what becomes of it; an end, on the
 * channel that hears of all clients, for others, unless someone waits for it.
 */
function pacingOf(
  { key, address }: Channel,
  message: DueMessage,
  isCritical: boolean,
  warningsAfterMs: number,
): Pick<OutboxEntry, 'holdMs' | 'merging'> {
  const { kind, holdMs, known } = message
  const service = kindOf(key, address)
  if (!isForPeople(service)) return { holdMs }
  // What is over within a silence, or was removed, is not notified, however long it lasted.
  const briefMs = message.isMoot ? Number.POSITIVE_INFINITY : warningsAfterMs
  const merging = { isOnly: !hears(service, message), briefMs, certainMs: holdMs }
  if (kind === 'opened' && !isCritical) return { merging, holdMs: Math.max(holdMs, warningsAfterMs) }
  if (kind !== 'resolved' || !gathersEnds(key, address)) return { merging, holdMs }
  // A server that is back, or what someone has taken on.
  const isAwaited = (isCritical && holdMs === 0) || known.row.acknowledged_by !== null
  return { merging, holdMs: isAwaited ? holdMs : Math.max(holdMs, ENDS_WAIT_MS) }
}

/** An end that no one wants to hear of is still what becomes of an opening that no one was sent. */
const isForUntold = (service: ServiceKind, { kind, audience }: DueMessage): boolean =>
  kind === 'resolved' && audience === 'keepers' && isForPeople(service)

const hears = (service: ServiceKind, { kind, audience }: DueMessage): boolean =>
  takesMessage(service, kind) && (audience === 'everyone' || isForIncidents(service))

/** Not the operator's own, and not what would go on paging someone about what is over or taken care of. */
const knowsQuietHours = ({ key, address }: Channel, kind: AlertMessageKind): boolean =>
  key !== 'global' && !(isForIncidents(kindOf(key, address)) && QUIETENS.includes(kind))

const QUIETENS: readonly AlertMessageKind[] = ['acknowledged', 'unacknowledged', 'resolved']

/** What is no more than a warning waits for the end of the client's quiet hours, by the site's clock. */
const quietEndOf = ({ quietHours, site }: AlertSource, now: number): number | null =>
  quietHours === null ? null : quietUntil(quietHours, site.timezone, now)

/** Of these incidents those of vendors, with whose. */
async function vendorsOf(trx: Transaction<Tables>, ids: readonly string[]): Promise<Map<string, string>> {
  const vendors = new Map<string, string>()
  for (const chunk of chunksOf([...new Set(ids)])) {
    const rows = await trx
      .selectFrom('incidents')
      .select(['id', 'vendor'])
      .where('id', 'in', chunk)
      .where('scope', '=', 'vendor')
      .execute()
    for (const { id, vendor } of rows) if (vendor !== null) vendors.set(id, vendor)
  }
  return vendors
}

/** What the timeline says of each message that reached someone. */
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
 * Notes in alerts when people were notified. Doing it twice changes nothing, as the same operations are repeated; an
 * alert that was deleted meanwhile stays so.
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
