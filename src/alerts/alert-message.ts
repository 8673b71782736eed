import { apart, duration, fieldsOf, firstIdAt, HOUR, MINUTE, namesInWords, number } from '../lib/index.ts'
import { ALSO_ON, type AlertMessage, FACTS_MAX, type Fact, type MessageImpact } from '../notifications/index.ts'
import { PROBE_TYPES } from '../probes/index.ts'
import {
  type AlertRow,
  chunksOf,
  type DeployMarkerTable,
  type IncidentRow,
  type Kysely,
  type Tables,
} from '../store/index.ts'
import { resolutionOf, severityOf, stateOf } from './alert-record.ts'
import { elsewhereText } from './incidents/across-sites.ts'
import type { DueMessage } from './incidents/due-messages.ts'
import { likelyCause } from './incidents/evidence.ts'
import { lossAndValue } from './incidents/impact-value.ts'
import { impactIn } from './incidents/records.ts'
import { signOf } from './incidents/sign.ts'
import { badEventsOf } from './machine/bad.ts'

/**
 * Returns the message about an incident as it is now, in the words of the alert that announced it.
 *
 * @param vendorElsewhere the vendor whose tags fail on other sites too, or null
 * @param onCall name of the person who is on call when the message is due, or null
 * @param downMs how much of a resolved incident's time Tagwarden was down, ms
 */
export function alertMessage(
  { kind, before, alert, source: { client, site, probe }, known, note, resolvedBy, handledBy }: DueMessage,
  change: Marker | undefined,
  vendorElsewhere: string | null,
  onCall: string | null = null,
  downMs = 0,
): AlertMessage {
  const elsewhere = vendorElsewhere === null ? null : elsewhereText(vendorElsewhere)
  const clues = {
    signs: Array.from(known.alerts.values(), signOf),
    leadId: known.row.lead_alert_id,
    voiceId: alert.id,
    change: change ?? null,
    vendorElsewhere,
    httpStatus: httpStatusIn(alert.details),
    why: [],
  }
  const facts = [...(kind === 'widened' ? newEvents(before, alert) : []), ...factsOf(alert.probe_type, alert.details)]
  return {
    kind,
    alert: {
      id: alert.id,
      severity: severityOf(alert),
      state: stateOf(alert),
      title: alert.title,
      message: alert.message,
      since: alert.started_at,
      opened_at: alert.opened_at,
      resolved_at: alert.resolved_at,
      resolution: resolutionOf(alert),
      resolved_by: resolvedBy,
      ...(handledBy === null ? {} : { handled_by: handledBy }),
      ...(downMs < MINUTE ? {} : { down_ms: downMs }),
      occurrences: alert.occurrences,
    },
    client: { id: client.id, name: client.name },
    site,
    probe,
    facts,
    change: change === undefined ? null : changeInWords(change, alert.started_at),
    ...(onCall === null ? {} : { on_call: onCall }),
    incident: {
      id: known.row.id,
      title: known.row.title,
      cause: known.row.cause,
      alerts: known.alerts.size,
      note,
      elsewhere: elsewhere === note ? null : elsewhere,
      likely_cause: likelyCause(clues),
      impact: messageImpact(known.row, kind === 'resolved'),
    },
  }
}

/** Returns the impact as last counted. When the incident ends it is counted once more, while the message waits to be merged with others. */
export function messageImpact({ impact }: Pick<IncidentRow, 'impact'>, final: boolean): MessageImpact | null {
  const known = impactIn(impact)
  const text = known === null ? null : lossAndValue(known)
  return text === null ? null : { text, final }
}

/** Names only the events that no message has named yet: people may already know the worst one, which is in the title. */
const newEvents = (before: AlertRow | null, alert: AlertRow): Fact[] => [
  { name: ALSO_ON, value: namesInWords(badEventsOf(alert).slice(before?.told_events ?? 0)) },
]

type Fields = Readonly<Record<string, unknown>>

/** Returns the figures that a message shows, from a result's details (JSON), whose fields depend on the type of probe. */
export function factsOf(probeType: string, details: string): Fact[] {
  const fields = fieldsOf(JSON.parse(details))
  const finding = fieldsOf(Array.isArray(fields.findings) ? fields.findings[0] : undefined)
  const facts = [...subjectFacts(finding), ...measureFacts(probeType, finding), ...answerFacts(fields)]
  return facts.slice(0, FACTS_MAX)
}

/** Returns the event, tag or field that the finding is about. */
function subjectFacts(finding: Fields): Fact[] {
  const subject = fieldsOf(finding.subject)
  const named = [
    ['Tag', subject.tag_key],
    ['Event', subject.event_name],
    ['Field', subject.field],
  ] as const
  return named.flatMap(([name, value]) => (typeof value === 'string' ? [{ name, value }] : []))
}

function measureFacts(probeType: string, finding: Fields): Fact[] {
  const figure = figureOf(probeType, finding)
  const fact = (name: string, value: number | null, text = figure(value ?? 0, number)): Fact[] =>
    value === null ? [] : [{ name, value: text }]
  const band = fieldsOf(finding.band)
  const measured = numberIn(finding.measured)
  const [least, most] = [numberIn(band.low), numberIn(band.high)]
  // The bound that was crossed.
  const threshold = measured !== null && most !== null && measured > most ? most : least
  const [shown, limit] = measured === null || threshold === null ? [] : apart(measured, threshold, figure)
  return [
    ...fact('Measured', measured, shown),
    ...fact('Usual', numberIn(finding.expected)),
    ...fact('Threshold', threshold, limit),
  ]
}

const numberIn = (value: unknown): number | null => (typeof value === 'number' ? value : null)

/** Returns the target's HTTP status, for probes that send it a request. */
function answerFacts({ status }: Fields): Fact[] {
  return typeof status === 'number' ? [{ name: 'HTTP status', value: String(status) }] : []
}

/** Returns the target's HTTP status, or null when none answered or the probe sends no request. */
export function httpStatusIn(details: string): number | null {
  const { status } = fieldsOf(JSON.parse(details))
  return typeof status === 'number' ? status : null
}

/** Returns how to write a figure of this probe: as a plain count, unless its type defines a `figure`. */
function figureOf(probeType: string, finding: Fields): (value: number, write: (value: number) => string) => string {
  const figure = PROBE_TYPES.find(({ name }) => name === probeType)?.figure
  return (value, write) => (figure === undefined ? write(value) : figure(value, write, fieldsOf(finding.subject)))
}

/** An alert that begins within this time of a deploy names it, ms. */
const CHANGE_NAMED_MS = 6 * HOUR

type Marker = Pick<DeployMarkerTable, 'site_id' | 'at' | 'source' | 'from_version' | 'to_version'>

/**
 * Returns, by alert id, the last change before each alert began; alerts without one are missing. A change is dated when a check
 * sees it, so one that was seen after the alert began but before it opened may also be the cause.
 */
export async function changesBefore(
  db: Kysely<Tables>,
  alerts: readonly Pick<AlertRow, 'id' | 'site_id' | 'started_at' | 'opened_at'>[],
): Promise<Map<string, Marker>> {
  const found = new Map<string, Marker>()
  for (const chunk of chunksOf(alerts)) {
    const markers = await db
      .selectFrom('deploy_markers')
      .select(['site_id', 'at', 'source', 'from_version', 'to_version'])
      .where('site_id', 'in', [...new Set(chunk.map(({ site_id }) => site_id))])
      // Ids begin with the time and the key is (site, id), so older markers are not read.
      .where('id', '>=', firstIdAt(Math.min(...chunk.map(({ started_at }) => started_at)) - CHANGE_NAMED_MS))
      .where('id', '<', firstIdAt(Math.max(...chunk.flatMap((alert) => [alert.started_at, alert.opened_at])) + 1))
      .orderBy('at', 'desc')
      .execute()
    for (const { id, site_id, started_at, opened_at } of chunk) {
      const ofSite = markers.filter((marker) => marker.site_id === site_id && marker.at >= started_at - CHANGE_NAMED_MS)
      const before = ofSite.find(({ at }) => at <= started_at)
      const seen = ofSite.findLast(({ at }) => at > started_at && at <= opened_at)
      const change = before ?? seen
      if (change !== undefined) found.set(id, change)
    }
  }
  return found
}

/** Returns `12 min after web container 41 → 42`, or `2 min before web container 41 → 42 was seen`. */
export function changeInWords({ at, source, from_version, to_version }: Marker, startedAt: number): string {
  const versions = from_version === null ? to_version : `${from_version} → ${to_version}`
  return at <= startedAt
    ? `${duration(startedAt - at)} after ${source} ${versions}`
    : `${duration(at - startedAt)} before ${source} ${versions} was seen`
}
