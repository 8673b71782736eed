import { quoted } from '../../lib/index.ts'
import { channelsNotified, GATHER_MS, withdrawEnd } from '../../notifications/index.ts'
import type { AlertRow, Store, Tables, Transaction } from '../../store/index.ts'
import type { Transition } from '../machine/types.ts'
import { FOR_NO_ONE, isForNoOne, quietEndOf } from '../message-entries.ts'
import { areMuted, silenceOf } from '../mutes.ts'
import type { AlertContext } from '../rules.ts'
import { withThoseBehind } from './behind.ts'
import { type Case, factsOfSites, lockCases, saveCases } from './case.ts'
import { followAlerts, isComment, worstOf } from './close.ts'
import { type DueMessage, dueMessages, type Intent, type PendingTransition } from './due-messages.ts'
import { fileAlerts, type News } from './file-alerts.ts'
import { rankOf, signOf } from './sign.ts'
import { isOfVoice, speak, withEscalation } from './speak.ts'
import { lateMs } from './steady.ts'

/** What to write once the alerts' incidents are known. */
interface Filings {
  pending: readonly PendingTransition[]
  due: readonly DueMessage[]
  /**
   * Incidents that became critical while people know of them, or are about to, as a warning; by the id of the alert that announced
   * them.
   */
  critical: ReadonlyMap<string, { title: string; isMuted: boolean }>
}

/** A transition while its incident is decided. */
interface Move {
  pending: PendingTransition
  /** A copy of the alert after the transition, which this file changes. */
  alert: AlertRow
}

/**
 * Puts changed alerts into incidents, and decides which messages people get: those of incidents, not of alerts. Writes the
 * incidents in the alerts' transaction, so that neither exists without the other; the caller writes the returned alerts.
 */
export async function throughIncidents(
  trx: Transaction<Tables>,
  store: Pick<Store, 'isShared'>,
  pending: readonly PendingTransition[],
  context: AlertContext,
): Promise<Filings> {
  const { now } = context
  const moves = pending.flatMap(moveOf)
  if (moves.length === 0) return { pending, due: [], critical: new Map() }
  const cases = await lockCases(trx, store, {
    incidentIds: moves.flatMap(({ alert }) => alert.incident_id ?? []),
    siteIds: [...new Set(moves.map(({ alert }) => alert.site_id))],
    now,
  })
  const places = new Map([...cases.values()].flatMap(({ row, alerts }) => [...alerts.keys()].map((id) => [id, row.id])))
  const left = new Map(moves.map(({ alert }) => [alert.id, takePlace(alert, cases, now)]))
  const unfiled = moves.filter(({ alert }) => alert.incident_id === null)
  const facts = await factsOfSites(
    trx,
    unfiled.map(({ alert }) => alert),
    now,
  )
  const news = fileAlerts(
    unfiled.map(({ alert, pending: { before } }) => ({
      alert,
      announced: announcedIn(before),
      left: left.get(alert.id) ?? null,
    })),
    cases,
    facts,
    now,
  )
  const back = await withdrawnEnds(trx, news, context)
  const { written, intents } = speakAll(moves, cases, context, back)
  for (const { kind, known, note } of news) {
    // The message that it flaps implies that it is back.
    if (kind === 'opened' && intents.some((intent) => intent.known === known && intent.kind === 'flapping')) continue
    const { withdrawn = NONE, isNews = false } = back.get(known) ?? {}
    intents.push({ known, kind, note, move: null, ending: null, knowing: withdrawn, isNews })
  }
  for (const known of cases.values()) {
    const handled = moves.flatMap(({ alert, pending: { transition } }) =>
      alert.incident_id === known.row.id ? transition.events : [],
    )
    const { state } = known.row
    const ending = followAlerts(known, handled, now)
    if (ending !== null) intents.push({ known, kind: 'resolved', note: null, move: null, ending })
    else if (known.row.state !== state) intents.push(...handledIntents(known))
  }
  const said = await withThoseBehind(trx, intents, moves, cases.values(), context)
  const due = await dueMessages(trx, said, pending, context)
  const unheard = due.filter((message) => isForNoOne(message, context.channelSettings, now))
  for (const { known } of unheard) known.events.push({ ...FOR_NO_ONE, kind: 'critical_only' })
  await moveAlerts(trx, cases, places, moves)
  await saveCases(trx, cases.values(), now)
  return {
    pending: pending.map((one) => {
      const { transition, ...rest } = written.get(one) ?? one
      const isUnheard = unheard.some(({ alert }) => alert.id === transition.alert?.id)
      return { ...rest, transition: isUnheard ? withEvent(transition) : transition }
    }),
    due,
    critical: becameCritical(cases.values(), moves, context),
  }
}

const withEvent = (made: Transition): Transition => ({ ...made, events: [...made.events, FOR_NO_ONE] })

/**
 * Returns the incidents that have just become critical. Unconfirmed alerts do not count: they make their incident critical, but no
 * one is notified of that yet.
 */
function becameCritical(
  cases: Iterable<Case>,
  moves: readonly Move[],
  { mutes, now }: AlertContext,
): Filings['critical'] {
  const befores = new Map(moves.map(({ alert, pending: { before } }) => [alert.id, before]))
  return new Map(
    [...cases].flatMap(({ before, alerts, row: { title, announced_alert_id: voice } }) => {
      if (voice === null || before === null) return []
      const all = [...alerts.values()]
      const was = (alert: AlertRow) => (befores.has(alert.id) ? (befores.get(alert.id) ?? null) : alert)
      const wasCritical = before.severity === 'critical' && all.map(was).some(isKnownCritical)
      if (wasCritical || !all.some(isKnownCritical)) return []
      return [[voice, { title, isMuted: areMuted(all, mutes, now) }] as const]
    }),
  )
}

const isKnownCritical = (alert: AlertRow | null): boolean =>
  alert !== null && alert.state !== 'resolved' && alert.severity === 'critical' && alert.confirmed_at !== null

/** Returns the message that someone has acknowledged the incident or withdrawn that. */
function handledIntents(known: Case): Intent[] {
  const last = known.events.findLast(({ kind }) => kind === 'acknowledged' || kind === 'unacknowledged')
  const { kind, actor = null, text = '' } = last ?? {}
  if (actor === null || (kind !== 'acknowledged' && kind !== 'unacknowledged')) return []
  const said = kind === 'acknowledged' ? `Acknowledged by ${actor}` : `No longer acknowledged by ${actor}`
  const note = isComment(text) ? `${said}: ${text}` : said
  return [{ known, kind, note, move: null, ending: null, handledBy: actor }]
}

const NONE: ReadonlySet<string> = new Set()

interface Back {
  withdrawn: ReadonlySet<string>
  isNews: boolean
}

/**
 * Withdraws ends that are still pending for incidents that are back: to their channels it is no news that it is bad again. A
 * channel that was notified of the end knows the incident only as bad as it is when it comes back, so a critical incident that is
 * back as a warning may escalate once more.
 *
 * @returns by incident that is back: the channels on which the end was withdrawn, and whether it is news to any other
 */
async function withdrawnEnds(
  trx: Transaction<Tables>,
  news: readonly News[],
  { sources, now }: AlertContext,
): Promise<Map<Case, Back>> {
  const back = new Map<Case, Back>()
  for (const { kind, known } of news) {
    const { row, alerts } = known
    const voice = row.announced_alert_id
    if (kind !== 'opened' || voice === null) continue
    const severity = worstOf(alerts.values())
    const source = [...alerts.values()].map(({ probe_id }) => sources.get(probe_id)).find((one) => one !== undefined)
    const isHeld = severity !== 'critical' && row.notified_severity !== 'critical' && source !== undefined
    const withdrawn = await withdrawEnd(trx, voice, now, isHeld ? quietEndOf(source, now + GATHER_MS) : null)
    const notified = [...((await channelsNotified(trx, [voice])).get(voice) ?? [])]
    // Someone who was notified of an earlier end and of nothing since is no longer on call, so they do not count. Someone whose only
    // message was cancelled (`at` is 0) knows nothing of it.
    const endedAt = known.before?.resolved_at ?? 0
    const isPast = ({ isOver, at }: { isOver: boolean; at: number }) => isOver && at > 0 && at < endedAt
    const isNews = notified.some(([key, last]) => !withdrawn.has(key) && !isPast(last))
    back.set(known, { withdrawn, isNews })
    // If people know it only as a warning, the escalation is still to come.
    const isKnown = severity === 'critical' ? withdrawn.size > 0 : !isNews
    if (!isKnown) row.notified_severity = severity
  }
  return back
}

/** Skips transitions that change nothing, as nearly all do, so that nothing is read for them. */
function moveOf(pending: PendingTransition): Move[] {
  const { alert, message } = pending.transition
  if (alert === null || (alert === pending.before && message === null)) return []
  // The end of an alert that is in no incident, and that no one was notified of, changes nothing.
  const isOver = alert.incident_id === null && alert.state === 'resolved' && alert.announced_at === null
  return isOver ? [] : [{ pending, alert: { ...alert } }]
}

/**
 * Updates the alert in its incident. An alert that outlasts its incident, or what explained it, by `lateMs` leaves it: it is
 * something else, which people were not notified of.
 *
 * @returns the incident that it left, or null
 */
function takePlace(alert: AlertRow, cases: ReadonlyMap<string, Case>, now: number): string | null {
  const known = cases.get(alert.incident_id ?? '')
  if (known === undefined) {
    alert.incident_id = null
    return null
  }
  const overSince = known.row.resolved_at ?? causeOverSince(alert, known)
  if (overSince === null || alert.state === 'resolved' || now - overSince < lateMs(alert)) {
    known.alerts.set(alert.id, alert)
    return null
  }
  known.alerts.delete(alert.id)
  known.events.push({
    kind: 'left',
    actor: null,
    text: `${quoted(alert.title)} lasts longer than its cause: it is a separate problem`,
  })
  alert.incident_id = null
  return known.row.id
}

/**
 * Returns when the stronger alert that explained this one was resolved; null while it was not, and when people already know of this
 * one.
 */
function causeOverSince(alert: AlertRow, known: Case): number | null {
  const lead = known.alerts.get(known.row.lead_alert_id ?? '')
  if (lead === undefined || lead.id === alert.id || isOfVoice(alert, known)) return null
  return rankOf(signOf(lead).kind) < rankOf(signOf(alert).kind) ? lead.resolved_at : null
}

/** Returns the alert if a version without incidents announced it. */
const announcedIn = (before: AlertRow | null): AlertRow | null =>
  before !== null && before.incident_id === null && before.announced_at !== null ? before : null

/** Messages of a critical alert by which an incident known as a warning becomes critical. */
const ESCALATING: readonly (string | null)[] = ['opened', 'escalated']

/**
 * Lets each alert that is due for a message speak for its incident, if it is the one to do so.
 *
 * @param back the incidents that are back, each with the channels that were not notified of its end
 */
function speakAll(
  moves: readonly Move[],
  cases: ReadonlyMap<string, Case>,
  { mutes, now }: AlertContext,
  back: ReadonlyMap<Case, Back>,
): { written: Map<PendingTransition, PendingTransition>; intents: Intent[] } {
  const written = new Map<PendingTransition, PendingTransition>()
  const intents: Intent[] = []
  // Causes first: of alerts found at the same time the cause should announce the incident, or it would take a second message.
  const leads = ({ alert }: Move) => cases.get(alert.incident_id ?? '')?.row.lead_alert_id === alert.id
  const causesFirst = moves.toSorted((a, b) => Number(leads(b)) - Number(leads(a)))
  const escalating = new Set(
    moves.flatMap(({ pending: { transition }, alert }) =>
      alert.severity === 'critical' && ESCALATING.includes(transition.message) ? (alert.incident_id ?? []) : [],
    ),
  )
  for (const { pending, alert } of causesFirst) {
    const { before, transition, source } = pending
    const known = cases.get(alert.incident_id ?? '')
    const wishes = source ?? { reminderMinutes: null }
    const spoken =
      known === undefined
        ? null
        : speak(before, { ...transition, alert }, known, wishes, now, silenceOf(mutes, known.row.id))
    if (spoken === null || known === undefined) {
      written.set(pending, { ...pending, transition: { ...transition, alert } })
      continue
    }
    known.alerts.set(alert.id, spoken.alert)
    written.set(pending, { ...pending, transition: { ...transition, alert: spoken.alert, events: spoken.events } })
    const {
      message: kind,
      otherwise = null,
      note,
    } = escalating.has(known.row.id) ? withEscalation(spoken, known) : spoken
    if (kind === null) continue
    // Channels that get the message that it is back read the severity there.
    const to = kind === 'escalated' ? (back.get(known)?.withdrawn ?? null) : null
    intents.push({ known, kind, otherwise, note, move: { before, alert: spoken.alert }, ending: null, to })
  }
  return { written, intents }
}

/** Writes the new incident of alerts that moved and are not written anyway. They are locked, like all alerts of the site. */
async function moveAlerts(
  trx: Transaction<Tables>,
  cases: ReadonlyMap<string, Case>,
  places: ReadonlyMap<string, string>,
  moves: readonly Move[],
): Promise<void> {
  const written = new Set(moves.map(({ alert }) => alert.id))
  for (const { row, alerts } of cases.values()) {
    const came = [...alerts.keys()].filter((id) => !written.has(id) && places.get(id) !== row.id)
    if (came.length === 0) continue
    await trx.updateTable('alerts').set({ incident_id: row.id }).where('id', 'in', came).execute()
  }
}
