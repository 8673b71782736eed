import type { AlertMessageKind, Channel } from '../../notifications/index.ts'
import type { AlertRow, Tables, Transaction } from '../../store/index.ts'
import type { Transition } from '../machine/types.ts'
import { type AlertContext, type AlertSource, loadSources, rulesOf, sourceWithoutProbe, workLeft } from '../rules.ts'
import type { Case } from './case.ts'
import type { Ending } from './close.ts'

/** A transition that is to be written. Without a source there is no one to notify. */
export interface PendingTransition {
  before: AlertRow | null
  transition: Transition
  source: AlertSource | undefined
}

/** A message that an incident would send. */
export interface Intent {
  known: Case
  kind: AlertMessageKind
  note: string | null
  /** The alert that speaks, whose own rules let it; null where the incident itself does. */
  move: { before: AlertRow | null; alert: AlertRow } | null
  /** Of one that ended. */
  ending: Ending | null
  /** Who has just acknowledged it, or does no longer. */
  handledBy?: string | null
  /** The channels that it is no news to. */
  knowing?: ReadonlySet<string>
  /** The only channels that it is news to; null, or missing: all. */
  to?: ReadonlySet<string> | null
}

/** Whom a message is for. What keeps incidents of its own has to know when one is over or taken care of, whatever people want messages about. */
type Audience = 'everyone' | 'keepers'

/** A message about an incident. It goes out under the id of the alert that announced it, so that services keep them together. */
export interface DueMessage {
  kind: AlertMessageKind
  /** As that alert was at its last message. */
  before: AlertRow | null
  /** That alert, with the incident's own beginning, end and severity. */
  alert: AlertRow
  source: AlertSource
  known: Case
  note: string | null
  resolvedBy: string | null
  handledBy: string | null
  audience: Audience
  /** Of an end: it was removed or is muted, so that no one needs a message about the beginning either. */
  isMoot: boolean
  /** How long it waits for whether it is true. */
  holdMs: number
  /** How long people are left in peace, as work is planned. */
  workMs: number
  /** The channels that it is no news to. */
  knowing?: ReadonlySet<string>
  /** The only channels that it is news to; null, or missing: all. */
  to?: ReadonlySet<string> | null
  /** To one person alone: that one's name and channels. */
  only?: { name: string; channels: readonly Channel[] }
}

/** Those of the messages that go out: an end that no one waits for is none, and what is muted stays so. */
export async function dueMessages(
  trx: Transaction<Tables>,
  intents: readonly Intent[],
  pending: readonly PendingTransition[],
  context: AlertContext,
): Promise<DueMessage[]> {
  const wanted = intents.filter(({ known }) => known.row.announced_at !== null)
  const voices = wanted.flatMap((intent) => {
    const voice = voiceOf(intent)
    return voice === undefined ? [] : [voice, ...(intent.ending === null ? [speakerOf(voice, intent.known)] : [])]
  })
  const missing = voices.flatMap(({ probe_id }) => (context.sources.has(probe_id) ? [] : probe_id))
  const loaded = missing.length === 0 ? new Map<string, AlertSource>() : await loadSources(trx, missing)
  for (const voice of voices) {
    if (context.sources.has(voice.probe_id) || loaded.has(voice.probe_id)) continue
    const source = neighbourOf(voice, pending, context) ?? (await sourceWithoutProbe(trx, voice))
    if (source !== undefined) loaded.set(voice.probe_id, source)
  }
  return wanted.flatMap((intent) => {
    const { known, kind, note, move, ending, handledBy = null, knowing = new Set(), to = null } = intent
    const voice = voiceOf(intent)
    if (voice === undefined) return []
    const source = context.sources.get(voice.probe_id) ?? loaded.get(voice.probe_id)
    const workMs = ending === null || source === undefined ? 0 : workLeft(voice, source, context)
    const audience = source === undefined ? null : audienceOf(intent, voice, source, context, workMs)
    if (source === undefined || audience === null) return []
    const resolvedBy = ending === null ? null : actorOf(ending.last, pending)
    const before = move?.alert.id === voice.id ? move.before : voice
    const holdMs = ending?.holdMs ?? 0
    const isMoot = ending !== null && (ending.isRemoved || rulesOf(voice, source, context).suppressedBy !== null)
    const alert = asIncident(voice, known, ending)
    const named = context.sources.get(alert.probe_id) ?? loaded.get(alert.probe_id) ?? source
    const ofIncident = { kind, before, alert, source: named, known, note, resolvedBy, handledBy }
    return [{ ...ofIncident, audience, isMoot, holdMs, workMs, knowing, to }]
  })
}

/** The alert under whose id the messages go out. */
const voiceOf = ({ known, move, ending }: Intent): AlertRow | undefined =>
  known.alerts.get(known.row.announced_alert_id ?? '') ?? move?.alert ?? ending?.last

/** Its probe was deleted: that of another alert of the batch, on the same site, knows whom to notify. */
const neighbourOf = (
  { site_id }: AlertRow,
  pending: readonly PendingTransition[],
  { sources }: AlertContext,
): AlertSource | undefined => {
  const own = pending.find(({ source }) => source?.site.id === site_id)?.source
  return own ?? [...sources.values()].find(({ site }) => site.id === site_id)
}

/** Null where it goes to no one. */
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
  // Who was notified of the beginning before the work is notified of the end after it.
  if (suppressedBy === null || workMs > 0) return 'everyone'
  known.events.push({ kind: 'suppressed', actor: null, text: `No notification: ${suppressedBy}` })
  return ending === null ? null : 'keepers'
}

const actorOf = ({ id }: AlertRow, pending: readonly PendingTransition[]): string | null =>
  pending
    .find(({ transition: { alert } }) => alert?.id === id)
    ?.transition.events.find(({ kind }) => kind === 'resolved')?.actor ?? null

/** Whose words a message has while the incident lasts: those of the alert that announced it, unless that has ended and another one lasts. */
export function speakerOf(voice: AlertRow, { row, alerts }: Case): AlertRow {
  if (voice.state !== 'resolved') return voice
  const lasting = [...alerts.values()].filter(({ state }) => state !== 'resolved')
  const lead = lasting.find(({ id }) => id === row.lead_alert_id)
  return lead ?? lasting.find(({ severity }) => severity === row.severity) ?? lasting[0] ?? voice
}

/** What people are notified of is the incident; of a single alert that is the same. */
export function asIncident(voice: AlertRow, known: Case, ending: Ending | null): AlertRow {
  const { row, alerts } = known
  const { severity, started_at, resolved_at } = row
  const speaker = ending === null ? speakerOf(voice, known) : voice
  const resolution = ending === null ? null : ending.last.resolution
  // What explained it names it for a while after its own end.
  const isLeadOver = ending === null && alerts.get(row.lead_alert_id ?? '')?.state === 'resolved'
  const title = isLeadOver ? speaker.title : row.title
  const { id, opened_at } = voice
  return { ...speaker, id, opened_at, title, severity, started_at, state: row.state, resolved_at, resolution }
}
