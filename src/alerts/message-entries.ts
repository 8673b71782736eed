import { vendorName } from '../analytics/index.ts'
import { readDowntime } from '../cluster/index.ts'
import { HOUR } from '../lib/index.ts'
import {
  type AlertMessageKind,
  type Channel,
  type ChannelSettings,
  channelsOf,
  channelsOfPeople,
  channelsOnCall,
  channelsTold,
  gathersEnds,
  isForIncidents,
  isForPeople,
  kindOf,
  type OutboxEntry,
  quietUntil,
  type ServiceKind,
  takesMessage,
  takesSeverity,
  whoIsOnCall,
} from '../notifications/index.ts'
import { chunksOf, type Tables, type Transaction } from '../store/index.ts'
import { alertMessage, changesBefore } from './alert-message.ts'
import type { DueMessage } from './incidents/due-messages.ts'
import type { AlertSource } from './rules.ts'

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
  const down = new Map<DueMessage, number>()
  for (const end of ends.filter(({ kind }) => kind === 'resolved')) {
    down.set(end, await readDowntime(trx, end.alert.started_at, end.alert.resolved_at ?? now))
  }
  return due.flatMap((message) => {
    const { source, alert, known, kind } = message
    const vendor = vendors.get(known.row.parent_id ?? '')
    const elsewhere = vendor === undefined ? null : vendorName(vendor)
    // Beginning and end belong together: where the one was withdrawn, the other is cancelled before it is sent.
    const isForOperator = vendor === undefined || kind === 'opened' || kind === 'resolved'
    // One that was critical is so until its end.
    const isCritical = alert.severity === 'critical' || known.row.notified_severity === 'critical'
    return (
      channelsFor(message, channelSettings, told.get(alert.id), dueAt(message, isCritical, channelSettings, now))
        .filter(({ key }) => (isForOperator || key !== 'global') && message.knowing?.has(key) !== true)
        .filter(({ key }) => message.to?.has(key) ?? true)
        .filter(
          ({ key, address }) => hears(kindOf(key, address), message) || isForUntold(kindOf(key, address), message),
        )
        // One that was added meanwhile knows of no beginning, nor does one that was notified of its end, and not that it is back.
        .filter((channel) => !QUIETENS.includes(kind) || !told.has(alert.id) || awaitsEnd(channel, message, told))
        // To a channel for what is critical the escalation is the opening, whatever the client wants of escalations.
        .filter(
          ({ minimumSeverity }) => kind !== 'escalated' || source.notifyAllEscalated || minimumSeverity === 'critical',
        )
        .filter(
          (channel) => takesSeverity(channel, isCritical ? 'critical' : 'warning') || awaitsEnd(channel, message, told),
        )
        .map((channel) => {
          const pacing = pacingOf(channel, message, isCritical, channelSettings.warningsAfterMs)
          const isHeld = !isCritical && knowsQuietHours(channel, kind)
          const waited = now + (pacing.holdMs ?? 0)
          // Written in the evening, what waits may be due by night only.
          const heldUntil = isHeld ? quietEndOf(source, waited) : null
          return {
            channel,
            clientId: source.client.id,
            alertId: alert.id,
            heldUntil,
            ...pacing,
            message: alertMessage(
              message,
              changes.get(alert.id),
              elsewhere,
              onCallName(message, heldUntil ?? waited),
              down.get(message),
            ),
          }
        })
    )
  })
}

/** What the timelines say then. */
export const FOR_NO_ONE = {
  kind: 'suppressed',
  actor: null,
  text: 'No notification: every channel takes critical alerts only',
} as const

/** Whether it opens as a warning while every channel there is takes only what is critical. */
export function isForNoOne(message: DueMessage, channelSettings: ChannelSettings, now: number): boolean {
  const { kind, alert } = message
  if ((kind !== 'opened' && kind !== 'flapping') || alert.severity === 'critical') return false
  const channels = channelsFor(message, channelSettings, undefined, now)
  return channels.length > 0 && !channels.some((channel) => takesSeverity(channel, 'warning'))
}

/** When people read it: after a hand-over in between it is no business of the one who was on call when it was written. */
function dueAt(
  { kind, holdMs, source }: DueMessage,
  isCritical: boolean,
  { warningsAfterMs = 0 }: ChannelSettings,
  now: number,
): number {
  if (isCritical) return now
  const due = now + (kind === 'opened' ? Math.max(holdMs, warningsAfterMs) : holdMs)
  return quietEndOf(source, due) ?? due
}

/** Those of the client, and of its people the one on call then. How it ends is sent to all who were notified of it. */
function channelsFor(
  { only, source: { client }, kind }: DueMessage,
  channelSettings: ChannelSettings,
  told: ReadonlyMap<string, unknown> | undefined,
  due: number,
): readonly Channel[] {
  if (only !== undefined) return only.channels
  const recipients = { client, ...channelSettings }
  const personal = QUIETENS.includes(kind)
    ? channelsOfPeople(recipients).filter(({ key }) => told?.has(key) === true)
    : channelsOnCall(recipients, due)
  return [...channelsOf(recipients), ...personal]
}

/** Of what is over no one has to take care. */
function onCallName({ only, source, kind }: DueMessage, at: number): string | null {
  const plan = source.client.onCall ?? null
  if (only !== undefined) return only.name
  if (plan === null || QUIETENS.includes(kind)) return null
  return whoIsOnCall(plan.rotation, plan.overrides, at)?.person.name ?? null
}

/** Ends wait so long for company on the operator's channel: any opening that goes out there takes them along. */
const ENDS_WAIT_MS = 12 * HOUR

/**
 * How long a message waits on a channel that people read, whom too many messages tire: a warning for what becomes of it; an end, on the
 * channel for all clients, for others, unless someone waits for it.
 */
function pacingOf(
  { key, address, warningsAfterMs: ofChannel }: Channel,
  message: DueMessage,
  isCritical: boolean,
  ofAll = 0,
): Pick<OutboxEntry, 'holdMs' | 'merging'> {
  const { kind, known } = message
  const service = kindOf(key, address)
  const holdMs = Math.max(message.holdMs, isForIncidents(service) ? 0 : message.workMs)
  if (!isForPeople(service)) return { holdMs }
  const warningsAfterMs = ofChannel ?? ofAll
  // What is over within a silence, or was removed, is not notified, however long it lasted.
  const briefMs = message.isMoot ? Number.POSITIVE_INFINITY : warningsAfterMs
  const merging = { isOnly: !hears(service, message), briefMs, certainMs: message.holdMs }
  if (kind === 'opened' && !isCritical) return { merging, holdMs: Math.max(holdMs, warningsAfterMs) }
  if (kind !== 'resolved' || !gathersEnds(key, address)) return { merging, holdMs }
  // A server that is back, or what someone has taken on.
  const isAwaited = (isCritical && message.holdMs === 0) || known.row.acknowledged_by !== null
  return { merging, holdMs: isAwaited ? holdMs : Math.max(holdMs, ENDS_WAIT_MS) }
}

/** An end that no one wants a message about is still what becomes of an opening that no one was sent. */
const isForUntold = (service: ServiceKind, { kind, audience }: DueMessage): boolean =>
  kind === 'resolved' && audience === 'keepers' && isForPeople(service)

const hears = (service: ServiceKind, { kind, audience }: DueMessage): boolean =>
  takesMessage(service, kind) && (audience === 'everyone' || isForIncidents(service))

/** Not the operator's own, and not what would go on paging someone about what is over or taken care of. */
const knowsQuietHours = ({ key, address }: Channel, kind: AlertMessageKind): boolean =>
  key !== 'global' && !(isForIncidents(kindOf(key, address)) && QUIETENS.includes(kind))

/** It was notified of the beginning, by when it took what is less bad. */
const awaitsEnd = (
  { key }: Channel,
  { kind, alert }: DueMessage,
  told: ReadonlyMap<string, ReadonlyMap<string, { isOver: boolean }>>,
): boolean => QUIETENS.includes(kind) && told.get(alert.id)?.get(key)?.isOver === false

const QUIETENS: readonly AlertMessageKind[] = ['acknowledged', 'unacknowledged', 'resolved']

/** What is no more than a warning, and due then, waits for the end of the client's quiet hours, by the site's clock. */
export const quietEndOf = ({ quietHours, site }: AlertSource, due: number): number | null =>
  quietHours === null ? null : quietUntil(quietHours, site.timezone, due)

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
