import { type AlertMessageKind, type Channel, lastCritical } from '../../notifications/index.ts'
import type { AlertRow, Tables, Transaction } from '../../store/index.ts'
import type { Transition } from '../machine/types.ts'
import { type AlertContext, type AlertSource, loadSources, rulesOf, sourceWithoutProbe, workLeft } from '../rules.ts'
import type { Case } from './case.ts'
import { confirmedOf, type Ending, severityOfAll } from './close.ts'
import { isBackUnsaid } from './speak.ts'

/** A transition to write. Without a source there is no one to notify. */
export interface PendingTransition {
  before: AlertRow | null
  transition: Transition
  source: AlertSource | undefined
}

/** A message that an incident would send. */
export interface Intent {
  known: Case
  kind: AlertMessageKind
  /** What it is to channels to which `escalated` is no news; null, or missing: nothing. */
  otherwise?: AlertMessageKind | null
  note: string | null
  /** The alert that speaks, as its own rules allow; null when the incident itself speaks. */
  move: { before: AlertRow | null; alert: AlertRow } | null
  /** How it ended; null when it did not. */
  ending: Ending | null
  /** Who has just acknowledged it or withdrawn the acknowledgement. */
  handledBy?: string | null
  /** Channels that it is no news to, because they were never notified of the end. */
  knowing?: ReadonlySet<string>
  /** The only channels that it is news to; null, or missing: all. */
  to?: ReadonlySet<string> | null
  /** Whether others were notified of it before, so that it was not announced now. */
  isRepeat?: boolean
  /** When it is back: whether some channel was notified of its end, or not even of its beginning. */
  isNews?: boolean
}

type Speaking = Pick<Intent, 'known' | 'kind' | 'move' | 'ending'>

/**
 * Whom a message is for. `keepers` are services that keep incidents of their own: they have to know when one is resolved or
 * acknowledged, whatever the client wants messages about.
 */
type Audience = 'everyone' | 'keepers'

/** A message about an incident. It is sent under the id of the alert that announced the incident, so that services thread its messages. */
export interface DueMessage {
  kind: AlertMessageKind
  /** What it is to channels to which `escalated` is no news; null, or missing: nothing. */
  otherwise?: AlertMessageKind | null
  /** That alert as it was at its last message. */
  before: AlertRow | null
  /** That alert, with the incident's beginning, end and severity. */
  alert: AlertRow
  source: AlertSource
  known: Case
  note: string | null
  resolvedBy: string | null
  handledBy: string | null
  audience: Audience
  /** For an end: it was removed or is muted, so that no one needs a message about the beginning either. */
  isMoot: boolean
  /** How long it is held back to see whether the end lasts, ms. */
  holdMs: number
  /** How long people are not notified because of maintenance, ms. */
  workMs: number
  /** Channels that it is no news to, because they were never notified of the end. */
  knowing?: ReadonlySet<string>
  /** The only channels that it is news to; null, or missing: all. */
  to?: ReadonlySet<string> | null
  /** Whether others were notified of it before, so that it was not announced now. */
  isRepeat?: boolean
  /** When it is for one person alone: their name and channels. */
  only?: { name: string; channels: readonly Channel[] }
}

/** Returns the intents that become messages: unwanted ends and muted messages are dropped. */
export async function dueMessages(
  trx: Transaction<Tables>,
  intents: readonly Intent[],
  pending: readonly PendingTransition[],
  context: AlertContext,
): Promise<DueMessage[]> {
  await nameByWorst(trx, intents)
  const wanted = intents.flatMap((intent) => {
    const voice = voiceOf(intent)
    if (voice === undefined || intent.known.row.announced_at === null) return []
    // Anyone who believes that it is resolved must first learn that it is back.
    if (isBackUnsaid(intent.known) && intent.kind !== 'opened') return []
    return { ...intent, voice, alert: asIncident(voice, intent) }
  })
  const speaking = wanted.flatMap(({ voice, alert }) => [voice, alert])
  const sources = await sourcesOf(trx, speaking, pending, context)
  return wanted.flatMap((intent) => {
    const { known, kind, otherwise = null, note, move, ending, voice, alert } = intent
    const { handledBy = null, knowing = new Set(), to = null, isRepeat = false } = intent
    const source = sources.get(voice.probe_id)
    const workMs = ending === null || source === undefined ? 0 : workLeft(voice, source, context)
    const audience = source === undefined ? null : audienceOf(intent, voice, source, context, workMs)
    if (source === undefined || audience === null) {
      // Said as soon as it may be.
      if (intent.isNews === true) known.row.notified_severity = null
      return []
    }
    const resolvedBy = ending === null ? null : actorOf(ending.last, pending)
    const before = move?.alert.id === voice.id ? move.before : voice
    const holdMs = ending?.holdMs ?? 0
    const isMoot = ending !== null && (ending.isRemoved || rulesOf(voice, source, context).suppressedBy !== null)
    const named = sources.get(alert.probe_id) ?? source
    const ofIncident = { kind, otherwise, before, alert, source: named, known, note, resolvedBy, handledBy }
    return [{ ...ofIncident, audience, isMoot, holdMs, workMs, knowing, to, isRepeat }]
  })
}

/**
 * Gives incidents that eased before they ended the severity and title of the message that said how bad they were: a reminder may have
 * said so of an alert that is silenced.
 */
async function nameByWorst(trx: Transaction<Tables>, intents: readonly Intent[]): Promise<void> {
  const eased = intents.flatMap(({ known: { row, alerts }, ending }) =>
    ending !== null && severityOfAll(confirmedOf(alerts.values())) !== 'critical' ? row : [],
  )
  const worst = await lastCritical(
    trx,
    eased.flatMap(({ announced_alert_id }) => announced_alert_id ?? []),
  )
  for (const row of eased) {
    const said = worst.get(row.announced_alert_id ?? '')
    if (said !== undefined) Object.assign(row, { severity: 'critical', title: said.alert.title })
  }
}

/** Returns the sources by probe id. For a deleted probe it is put together from what is left. */
async function sourcesOf(
  trx: Transaction<Tables>,
  alerts: readonly AlertRow[],
  pending: readonly PendingTransition[],
  context: AlertContext,
): Promise<Map<string, AlertSource>> {
  const sources = new Map(context.sources)
  const missing = alerts.filter(({ probe_id }) => !sources.has(probe_id))
  if (missing.length === 0) return sources
  const loaded = await loadSources(
    trx,
    missing.map(({ probe_id }) => probe_id),
  )
  for (const [id, source] of loaded) sources.set(id, source)
  for (const alert of missing) {
    if (sources.has(alert.probe_id)) continue
    const source = neighbourOf(alert, pending, context) ?? (await sourceWithoutProbe(trx, alert))
    if (source !== undefined) sources.set(alert.probe_id, source)
  }
  return sources
}

/** The alert under whose id the incident's messages are sent. */
const voiceOf = ({ known, move, ending }: Intent): AlertRow | undefined =>
  known.alerts.get(known.row.announced_alert_id ?? '') ?? move?.alert ?? ending?.last

/** Returns a source of the same site for an alert whose probe was deleted: it knows whom to notify. */
const neighbourOf = (
  { site_id }: AlertRow,
  pending: readonly PendingTransition[],
  { sources }: AlertContext,
): AlertSource | undefined => {
  const own = pending.find(({ source }) => source?.site.id === site_id)?.source
  return own ?? [...sources.values()].find(({ site }) => site.id === site_id)
}

/** Returns whom a message is for; null when it is for no one. */
function audienceOf(
  { known, move, ending, handledBy }: Intent,
  voice: AlertRow,
  source: AlertSource,
  context: AlertContext,
  workMs: number,
): Audience | null {
  if (typeof handledBy === 'string') return 'keepers'
  if (move !== null) return 'everyone'
  if (ending !== null && (ending.isRemoved || !source.notifyResolved)) return 'keepers'
  const { suppressedBy } = rulesOf(voice, source, context)
  // Anyone notified of the beginning before the maintenance is notified of the end after it.
  if (suppressedBy === null || workMs > 0) return 'everyone'
  known.events.push({ kind: 'suppressed', actor: null, text: `No notification: ${suppressedBy}` })
  return ending === null ? null : 'keepers'
}

const actorOf = ({ id }: AlertRow, pending: readonly PendingTransition[]): string | null =>
  pending
    .find(({ transition: { alert } }) => alert?.id === id)
    ?.transition.events.find(({ kind }) => kind === 'resolved')?.actor ?? null

/** Messages that are news about a single alert. */
const OF_ONE: readonly AlertMessageKind[] = ['explained', 'escalated', 'widened', 'flapping']

/**
 * Returns the alert whose words and figures a message has. News about one alert has that alert's, other messages those of an alert
 * as bad as the incident, preferably its cause.
 */
function speakerOf(voice: AlertRow, { known: { row, alerts }, kind, move }: Speaking): AlertRow {
  if (move !== null && OF_ONE.includes(kind)) return move.alert
  const speaking = confirmedOf(
    [...alerts.values()].filter(({ state }) => state !== 'resolved' || row.state === 'resolved'),
  )
  const first = [row.lead_alert_id, voice.id].flatMap((id) => speaking.find((alert) => alert.id === id) ?? [])
  const inOrder = [...first, ...speaking]
  return inOrder.find(({ severity }) => severity === row.severity) ?? inOrder[0] ?? voice
}

/** Returns the incident in the words of one of its alerts, which is what people are notified of. */
export function asIncident(voice: AlertRow, intent: Speaking): AlertRow {
  const { severity, started_at, state, resolved_at } = intent.known.row
  const { id, opened_at } = voice
  const resolution = intent.ending?.last.resolution ?? null
  return { ...speakerOf(voice, intent), id, opened_at, severity, started_at, state, resolved_at, resolution }
}
