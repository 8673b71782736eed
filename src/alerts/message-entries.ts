import { vendorName } from '../analytics/index.ts'
import { readDowntime } from '../cluster/index.ts'
import { HOUR } from '../lib/index.ts'
import {
  type AlertMessage,
  type AlertMessageKind,
  type Channel,
  type ChannelSettings,
  channelsKnowingCritical,
  channelsNotified,
  channelsOf,
  channelsOfPeople,
  channelsOnCall,
  gathersEnds,
  isForIncidents,
  isForPeople,
  kindOf,
  lastCritical,
  type OutboxEntry,
  quietUntil,
  type ServiceKind,
  takesMessage,
  takesSeverity,
  whoIsOnCall,
} from '../notifications/index.ts'
import { chunksOf, type Tables, type Transaction } from '../store/index.ts'
import { alertMessage, changesBefore } from './alert-message.ts'
import { isEased } from './incidents/close.ts'
import type { DueMessage } from './incidents/due-messages.ts'
import { holdsOf } from './incidents/falls.ts'
import { sharedVendors } from './incidents/vendor-reads.ts'
import { kindFor, QUIETENS } from './message-kind.ts'
import type { AlertSource } from './rules.ts'

/**
 * Returns an outbox entry for each message and each channel that is to get it. A site's incident that is part of a vendor's is
 * announced to the operator by that one, so of its own messages the global channel gets only the end, if it had the opening before.
 */
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
  const shared = await sharedVendors(trx, [...vendors.keys()])
  const holds = await holdsOf(trx, [...vendors.keys()], channelSettings, now)
  const ends = due.filter(({ kind }) => QUIETENS.includes(kind))
  const worse = due.filter(({ kind }) => kind === 'escalated')
  const notified = await channelsNotified(
    trx,
    [...ends, ...worse].map(({ alert }) => alert.id),
  )
  const knowing = await channelsKnowingCritical(
    trx,
    worse.map(({ alert }) => alert.id),
  )
  const worst = await lastCritical(
    trx,
    ends.flatMap((end) => (end.kind === 'resolved' && isEased(end.known) ? end.alert.id : [])),
  )
  const down = new Map<DueMessage, number>()
  for (const end of ends.filter(({ kind }) => kind === 'resolved')) {
    down.set(end, await readDowntime(trx, end.alert.started_at, end.alert.resolved_at ?? now))
  }
  return due.flatMap((message) => {
    const { source, alert, known, kind } = message
    const vendor = vendors.get(known.row.parent_id ?? '')
    const isElsewhere = shared.has(known.row.parent_id ?? '')
    const elsewhere = vendor === undefined || !isElsewhere ? null : vendorName(vendor)
    // What lasted longer than messages are kept was announced on unknown channels.
    const isForgotten = !notified.has(alert.id) && known.row.last_notified_at !== null
    const isForOperator = vendor === undefined || kind === 'resolved'
    const hold = holds.get(known.row.parent_id ?? '') ?? null
    // An alert that was critical counts as critical until it is resolved.
    const isCritical = alert.severity === 'critical' || known.row.notified_severity === 'critical'
    return channelsFor(
      message,
      channelSettings,
      notified.get(alert.id),
      Math.max(dueAt(message, isCritical, channelSettings, now), kind === 'opened' ? (hold ?? 0) : 0),
    )
      .filter(({ key }) => (isForOperator || key !== 'global') && message.knowing?.has(key) !== true)
      .filter(({ key }) => message.to?.has(key) ?? true)
      .flatMap((channel) => {
        const { key, address } = channel
        const takes = takesSeverity(channel, isCritical ? 'critical' : 'warning')
        const isOpen = isForgotten ? takes : notified.get(alert.id)?.get(key)?.isOver === false
        // What became critical while it was muted may have been said by an opening that waited, or to the next on call.
        const knows = knowing.get(alert.id)?.has(key) === true ? 'critical' : isOpen ? 'open' : 'nothing'
        const listener = { takesSeverity: takes, wantsEscalations: source.notifyEscalated, knows } as const
        const heard = kindFor(message, listener)
        if (heard === null) return []
        // What is held back is withdrawn with its end, as an opening is.
        const isFirst = hold !== null && heard === 'escalated' && knows === 'nothing'
        const own = { ...message, kind: isFirst ? ('opened' as const) : heard }
        const service = kindOf(key, address)
        return hears(service, own) || isForUntold(service, own) ? { channel, own } : []
      })
      .map(({ channel, own }) => {
        const pacing = pacingOf(channel, own, isCritical, channelSettings.warningsAfterMs)
        const merging = hold === null || channel.key === 'global' ? pacing.merging : heldBack(pacing.merging, own)
        const isHeld = !isCritical && knowsQuietHours(channel, own.kind)
        const waited = now + (pacing.holdMs ?? 0)
        // A message written in the evening may only become due during the quiet hours.
        const quietEnd = isHeld ? quietEndOf(source, waited) : null
        const heldUntil =
          merging?.isHeld === true && own.kind === 'opened' ? Math.max(hold ?? 0, quietEnd ?? 0) : quietEnd
        return {
          channel,
          clientId: source.client.id,
          alertId: alert.id,
          heldUntil,
          ...pacing,
          ...(merging === undefined ? {} : { merging }),
          message: inWordsOf(
            worst.get(alert.id),
            alertMessage(
              own,
              changes.get(alert.id),
              elsewhere,
              onCallName(message, heldUntil ?? waited),
              down.get(message),
            ),
          ),
        }
      })
  })
}

/** Returns a message with the words and figures of the one that said how bad it was. */
const inWordsOf = (said: AlertMessage | undefined, message: AlertMessage): AlertMessage =>
  said === undefined
    ? message
    : {
        ...message,
        alert: { ...message.alert, title: said.alert.title, message: said.alert.message },
        probe: said.probe,
        facts: said.facts,
      }

/** The timeline entry when `isForNoOne` returns true. */
export const FOR_NO_ONE = {
  kind: 'suppressed',
  actor: null,
  text: 'No notification: every channel takes critical alerts only',
} as const

/** Returns whether the message opens a warning although every channel takes critical alerts only. */
export function isForNoOne(message: DueMessage, channelSettings: ChannelSettings, now: number): boolean {
  const { kind, alert } = message
  if ((kind !== 'opened' && kind !== 'flapping') || alert.severity === 'critical') return false
  const channels = channelsFor(message, channelSettings, undefined, now)
  return channels.length > 0 && !channels.some((channel) => takesSeverity(channel, 'warning'))
}

/**
 * Returns when the message will be sent, epoch ms. It is for the person on call then, who may not be the one on call when it is
 * written.
 */
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

/**
 * Returns the client's channels and those of the person on call when the message is due. The end goes to all people who were
 * notified of the beginning.
 */
function channelsFor(
  { only, source: { client }, kind }: DueMessage,
  channelSettings: ChannelSettings,
  notified: ReadonlyMap<string, unknown> | undefined,
  due: number,
): readonly Channel[] {
  if (only !== undefined) return only.channels
  const recipients = { client, ...channelSettings }
  const personal = QUIETENS.includes(kind)
    ? channelsOfPeople(recipients).filter(({ key }) => notified?.has(key) === true)
    : channelsOnCall(recipients, due)
  return [...channelsOf(recipients), ...personal]
}

/** Returns the name to put on the message; null at its end, when no one has to act. */
function onCallName({ only, source, kind }: DueMessage, at: number): string | null {
  const plan = source.client.onCall ?? null
  if (only !== undefined) return only.name
  if (plan === null || QUIETENS.includes(kind)) return null
  return whoIsOnCall(plan.rotation, plan.overrides, at)?.person.name ?? null
}

/** An end waits this long on the operator's channel, so that the next opening there takes it along in one message. */
const ENDS_WAIT_MS = 12 * HOUR

/**
 * Returns how long a message waits on a channel that people read, so that fewer messages reach them: a warning waits to see whether
 * it lasts, and an end on the global channel waits for other messages, unless someone is waiting for it.
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
  // What ends in a silence, or was removed, is never notified, however long it lasted.
  const briefMs = message.isMoot ? Number.POSITIVE_INFINITY : warningsAfterMs
  const merging = { isOnly: !hears(service, message), briefMs, certainMs: message.holdMs }
  if (kind === 'opened' && !isCritical) return { merging, holdMs: Math.max(holdMs, warningsAfterMs) }
  if (kind !== 'resolved' || !gathersEnds(key, address)) return { merging, holdMs }
  // Someone waits for it: a server is back, or the incident was acknowledged.
  const isAwaited = (isCritical && message.holdMs === 0) || known.row.acknowledged_by !== null
  return { merging, holdMs: isAwaited ? holdMs : Math.max(holdMs, ENDS_WAIT_MS) }
}

/** A pager is a channel for machines, but what is held back is merged with what follows there as well. */
const heldBack = (merging: OutboxEntry['merging'], { holdMs }: DueMessage): OutboxEntry['merging'] => ({
  ...(merging ?? { isOnly: false, briefMs: 0, certainMs: holdMs }),
  isHeld: true,
})

/** An end that is only for `keepers` must still cancel an opening that is pending on a channel for people. */
const isForUntold = (service: ServiceKind, { kind, audience }: DueMessage): boolean =>
  kind === 'resolved' && audience === 'keepers' && isForPeople(service)

const hears = (service: ServiceKind, { kind, audience }: DueMessage): boolean =>
  takesMessage(service, kind) && (audience === 'everyone' || isForIncidents(service))

/**
 * Whether quiet hours hold back the message. They never apply to the global channel, nor to ends and acknowledgements for paging
 * services, which would otherwise go on paging someone.
 */
const knowsQuietHours = ({ key, address }: Channel, kind: AlertMessageKind): boolean =>
  key !== 'global' && !(isForIncidents(kindOf(key, address)) && QUIETENS.includes(kind))

/** Returns when the client's quiet hours end, by the site's time zone, for a warning that is due at that time; null outside them. */
export const quietEndOf = ({ quietHours, site }: AlertSource, due: number): number | null =>
  quietHours === null ? null : quietUntil(quietHours, site.timezone, due)

/** Returns the vendor of each of these incidents that is a vendor's and lasts: what outlasts it, or comes back later, is the site's own. */
async function vendorsOf(trx: Transaction<Tables>, ids: readonly string[]): Promise<Map<string, string>> {
  const vendors = new Map<string, string>()
  for (const chunk of chunksOf([...new Set(ids)])) {
    const rows = await trx
      .selectFrom('incidents')
      .select(['id', 'vendor'])
      .where('id', 'in', chunk)
      .where('scope', '=', 'vendor')
      .where('state', '<>', 'resolved')
      .execute()
    for (const { id, vendor } of rows) if (vendor !== null) vendors.set(id, vendor)
  }
  return vendors
}
