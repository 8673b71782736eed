import { quoted } from '../../lib/index.ts'
import { channelsTold, GATHER_MS, withdrawEnd } from '../../notifications/index.ts'
import type { AlertRow, Store, Tables, Transaction } from '../../store/index.ts'
import type { Transition } from '../machine/types.ts'
import { FOR_NO_ONE, isForNoOne, quietEndOf } from '../message-entries.ts'
import { areMuted, isSilenced } from '../mutes.ts'
import type { AlertContext } from '../rules.ts'
import { type Case, factsOfSites, lockCases, saveCases } from './case.ts'
import { followAlerts, worstOf } from './close.ts'
import { type DueMessage, dueMessages, type Intent, type PendingTransition } from './due-messages.ts'
import { fileAlerts, type News } from './file-alerts.ts'
import { rankOf, signOf } from './sign.ts'
import { isOfVoice, speak } from './speak.ts'
import { lateMs } from './steady.ts'

/** What is to be written of alerts once their incidents are known. */
interface Filings {
  pending: readonly PendingTransition[]
  due: readonly DueMessage[]
  /** By the alerts that speak for them: incidents that people know of as a warning, or are about to, and that are critical now. */
  critical: ReadonlyMap<string, { title: string; isMuted: boolean; notifyEscalated: boolean }>
}

/** A transition under way. */
interface Move {
  pending: PendingTransition
  /** The alert after it, which what is decided here changes. */
  alert: AlertRow
}

/**
 * Puts alerts that changed into incidents, and decides which messages people get: those of incidents, not of alerts. Writes the
 * incidents, in the transaction of the alerts: there are never the ones without the others. The alerts come back to be written.
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
      told: toldIn(before),
      left: left.get(alert.id) ?? null,
    })),
    cases,
    facts,
    now,
  )
  const back = await withdrawnEnds(trx, news, context)
  const { written, intents } = speakAll(moves, cases, context, back)
  for (const { kind, known, note } of news) {
    // That it flaps says that it is back, too.
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
  const due = await dueMessages(trx, intents, pending, context)
  const unheard = due.filter((message) => isForNoOne(message, context.channelSettings, now))
  for (const { known } of unheard) known.events.push(FOR_NO_ONE)
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

/** An alert that is alone and has not reached its probe's threshold makes its incident critical, and notifies no one of that yet. */
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
      const source = moves.find(({ alert }) => alerts.has(alert.id))?.pending.source
      return [
        [
          voice,
          { title, isMuted: areMuted(all, mutes, now), notifyEscalated: source?.notifyEscalated ?? true },
        ] as const,
      ]
    }),
  )
}

const isKnownCritical = (alert: AlertRow | null): boolean =>
  alert !== null && alert.state !== 'resolved' && alert.severity === 'critical' && alert.confirmed_at !== null

/** That someone takes care of it now, or no longer. */
function handledIntents(known: Case): Intent[] {
  const last = known.events.findLast(({ kind }) => kind === 'acknowledged' || kind === 'unacknowledged')
  const { kind, actor = null, text = '' } = last ?? {}
  if (actor === null || (kind !== 'acknowledged' && kind !== 'unacknowledged')) return []
  const said = kind === 'acknowledged' ? `Acknowledged by ${actor}` : `No longer acknowledged by ${actor}`
  const note = isComment(text) ? `${said}: ${text}` : said
  return [{ known, kind, note, move: null, ending: null, handledBy: actor }]
}

/** Else it is what a timeline says without one. */
const isComment = (text: string): boolean => text !== 'Acknowledged' && text !== 'No longer acknowledged'

const NONE: ReadonlySet<string> = new Set()

interface Back {
  withdrawn: ReadonlySet<string>
  isNews: boolean
}

/**
 * Where people have not been notified of an end yet, it is taken back, and that it is bad again is no news. Who was notified of the end
 * knows of it only as bad as it comes back: a critical incident that is back as a warning may become critical once more.
 *
 * @returns by the incidents that are back: the channels on which the end was taken back, and whether any was notified of it
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
    const told = [...((await channelsTold(trx, [voice])).get(voice) ?? [])]
    // Of an earlier end it says nothing that someone was notified of who has not been since, as that is no longer the one on call.
    const endedAt = known.before?.resolved_at ?? 0
    const isNews = told.some(([key, { isOver, at }]) => !(withdrawn.has(key) || (isOver && at < endedAt)))
    back.set(known, { withdrawn, isNews })
    // Where it was a warning to the last, that it is critical is still to be said.
    const isKnown = severity === 'critical' ? withdrawn.size > 0 : !isNews
    if (!isKnown) row.notified_severity = severity
  }
  return back
}

/** Nearly all results change nothing, and then nothing is read. */
function moveOf(pending: PendingTransition): Move[] {
  const { alert, message } = pending.transition
  if (alert === null || (alert === pending.before && message === null)) return []
  // Of what is in no incident and no one was notified of, the end is of no interest.
  const isOver = alert.incident_id === null && alert.state === 'resolved' && alert.announced_at === null
  return isOver ? [] : [{ pending, alert: { ...alert } }]
}

/**
 * Notes in its incident how the alert is now. One that lasts when its incident, or what explained it, is long over leaves it: it is
 * something else, which people have not heard of.
 *
 * @returns the incident that it left; null: none
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
    text: `${quoted(alert.title)} lasts longer than its cause: it is another problem`,
  })
  alert.incident_id = null
  return known.row.id
}

/** Since when the stronger alert that explained this one has been over; null while it is not, and of what people know already. */
function causeOverSince(alert: AlertRow, known: Case): number | null {
  const lead = known.alerts.get(known.row.lead_alert_id ?? '')
  if (lead === undefined || lead.id === alert.id || isOfVoice(alert, known)) return null
  return rankOf(signOf(lead).kind) < rankOf(signOf(alert).kind) ? lead.resolved_at : null
}

/** An earlier version notified people of it, when each alert was its own. */
const toldIn = (before: AlertRow | null): AlertRow | null =>
  before !== null && before.incident_id === null && before.announced_at !== null ? before : null

/**
 * Lets each alert that is due for a message speak for its incident, if it is the one to do so.
 *
 * @param back the incidents that are back, each with the channels that have not heard of its end
 */
function speakAll(
  moves: readonly Move[],
  cases: ReadonlyMap<string, Case>,
  { mutes, now }: AlertContext,
  back: ReadonlyMap<Case, Back>,
): { written: Map<PendingTransition, PendingTransition>; intents: Intent[] } {
  const written = new Map<PendingTransition, PendingTransition>()
  const intents: Intent[] = []
  // Of what is found at once the cause speaks: told second, it would be a message of its own.
  const leads = ({ alert }: Move) => cases.get(alert.incident_id ?? '')?.row.lead_alert_id === alert.id
  const causesFirst = moves.toSorted((a, b) => Number(leads(b)) - Number(leads(a)))
  for (const { pending, alert } of causesFirst) {
    const { before, transition, source } = pending
    const known = cases.get(alert.incident_id ?? '')
    const wishes = source ?? { notifyEscalated: false, reminderMinutes: null }
    const spoken =
      known === undefined
        ? null
        : speak(before, { ...transition, alert }, known, wishes, now, isSilenced(mutes, known.row.id))
    if (spoken === null || known === undefined) {
      written.set(pending, { ...pending, transition: { ...transition, alert } })
      continue
    }
    known.alerts.set(alert.id, spoken.alert)
    written.set(pending, { ...pending, transition: { ...transition, alert: spoken.alert, events: spoken.events } })
    const { message: kind, note } = spoken
    if (kind === null) continue
    // Who is about to read that it is back reads there how bad it is.
    const to = kind === 'escalated' ? (back.get(known)?.withdrawn ?? null) : null
    intents.push({ known, kind, note, move: { before, alert: spoken.alert }, ending: null, to })
  }
  return { written, intents }
}

/** Writes where alerts are now that moved with their incident and are not written anyway. They are locked like all of their site. */
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
