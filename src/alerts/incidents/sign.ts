import { isOneService, vendorOf } from '../../analytics/index.ts'
import { fieldsOf, HOUR } from '../../lib/index.ts'
import { WHOLE } from '../../probes/index.ts'
import type { AlertRow } from '../../store/index.ts'
import { badEventsOf } from '../machine/bad.ts'

/**
 * What can be wrong, from what explains most to what explains nothing: our own connection or check; the tag server, its name or its
 * certificate; a container that was published; the consent platform; a sender that is silent; an event that is gone; a tag; latency
 * and quality. `other` is what probes of a type found that is not known here.
 */
export const CAUSES = ['own', 'server', 'release', 'consent', 'silence', 'event', 'tag', 'quality', 'other'] as const
export type Cause = (typeof CAUSES)[number]

/** The columns are text, and a later version may know more. */
export const causeOf = (text: string): Cause => CAUSES.find((known) => known === text) ?? 'other'

/** How strong an explanation it is: the less, the stronger. */
export const rankOf = (cause: Cause): number => CAUSES.indexOf(cause)

/** How a vendor's tags are bad: what has to agree on several sites. */
type Failing = 'failing' | 'missing' | 'slow' | 'refused'

/** An alert, as far as it says what it may have in common with others. */
export interface Sign {
  alertId: string
  kind: Cause
  isCritical: boolean
  title: string
  probeId: string | null
  probeType: string
  /** What the alert is about, as its probe names it. */
  subject: string
  tag: string | null
  /** The events that it is about; of a tag those on which it is bad. Empty: all. */
  events: readonly string[]
  field: string | null
  vendor: string | null
  failing: Failing | null
  /** What the vendor answers where it refuses: `HTTP 4xx`. */
  answer: string | null
  /** There is too much, not too little. */
  isSurge: boolean
  /** Nothing of it came at all. */
  isTotal: boolean
  startedAt: number
  /** When it was found. */
  openedAt: number
  /** By how much it may have begun later than it says: what is counted by the hour began within that hour. */
  resolutionMs: number
  resolvedAt: number | null
  /** It ended as what it was about became well, and not by someone's hand. */
  hasRecovered: boolean
}

const KINDS: Readonly<Record<string, Cause>> = {
  http_health: 'server',
  tag_server_infra: 'server',
  tag_manager_version: 'release',
  cmp_check: 'consent',
  canary: 'silence',
  data_freshness: 'silence',
  data_volume: 'silence',
  tag_missing: 'tag',
  tag_failure_rate: 'tag',
  vendor_status: 'tag',
  warehouse_events: 'tag',
  meta_quality: 'quality',
  tag_latency: 'quality',
  user_data_quality: 'quality',
  ecommerce_quality: 'quality',
  consent_signals: 'consent',
  duplicates: 'quality',
  value_quality: 'quality',
  identifier_quality: 'quality',
  field_contract: 'quality',
  reconciliation: 'quality',
  container_lag: 'quality',
  // That an image is old is no news, and a release does not make it so.
  image_version: 'other',
  error_budget: 'other',
  // It judges nothing but itself.
  ga4_counts: 'other',
  // A job of whatever kind.
  push: 'other',
}

/** Of the types that judge tags. */
export const FAILING: Readonly<Record<string, Failing>> = {
  tag_failure_rate: 'failing',
  tag_missing: 'missing',
  tag_latency: 'slow',
  vendor_status: 'refused',
}

const BY_THE_HOUR: readonly string[] = [
  'data_volume',
  'user_data_quality',
  'ecommerce_quality',
  'consent_signals',
  'duplicates',
  'value_quality',
  'identifier_quality',
  'field_contract',
  'tag_latency',
]

type SignRow = Pick<
  AlertRow,
  | 'id'
  | 'probe_id'
  | 'probe_type'
  | 'subject'
  | 'details'
  | 'bad_events'
  | 'severity'
  | 'title'
  | 'started_at'
  | 'opened_at'
  | 'resolved_at'
  | 'resolution'
  | 'vendor'
>

export function signOf(alert: SignRow): Sign {
  const finding = findingIn(alert.details)
  const subject = fieldsOf(finding.subject)
  const [tag, event, field] = [subject.tag_key, subject.event_name, subject.field].map(textOrNull)
  const events = badEventsOf(alert)
  return {
    alertId: alert.id,
    kind: kindOf(alert, event ?? null, tag ?? null),
    isCritical: alert.severity === 'critical',
    title: alert.title,
    probeId: alert.probe_id,
    probeType: alert.probe_type,
    subject: alert.subject,
    tag: tag ?? null,
    events: events.length > 0 ? events : typeof event === 'string' ? [event] : [],
    field: field ?? null,
    vendor: alert.subject === 'check' ? null : vendorIn(alert, tag ?? null),
    failing: isTooSoon(finding) ? null : (FAILING[alert.probe_type] ?? null),
    answer: alert.probe_type === 'vendor_status' ? answerIn(finding) : null,
    isSurge: isSurge(finding) && alert.probe_type === 'data_volume',
    isTotal: alert.probe_type === 'data_volume' && finding.measured === 0,
    startedAt: alert.started_at,
    openedAt: alert.opened_at,
    resolutionMs: BY_THE_HOUR.includes(alert.probe_type) ? HOUR : 0,
    resolvedAt: alert.resolved_at,
    hasRecovered: alert.resolution === 'recovered',
  }
}

/** A tag that is too quick is not slow, though the same probe finds both. */
const isTooSoon = ({ evidence }: Readonly<Record<string, unknown>>): boolean => fieldsOf(evidence).reason === 'too_soon'

function kindOf({ probe_type, subject }: SignRow, event: string | null, tag: string | null): Cause {
  if (subject === 'check') return 'own'
  // A tag that does without consent explains nothing else.
  if (probe_type === 'consent_signals' && tag !== null) return 'quality'
  const kind = KINDS[probe_type] ?? 'other'
  return kind === 'silence' && (subject !== WHOLE || event !== null) ? 'event' : kind
}

function vendorIn({ probe_type, vendor: said }: SignRow, tag: string | null): string | null {
  if (probe_type === 'warehouse_events') return 'bigquery'
  const vendor = tag === null ? null : (said ?? vendorOf(tag)?.id ?? null)
  return vendor !== null && isOneService(vendor) ? vendor : null
}

/** The worst finding that a result's details (JSON) hold, which each type of probe writes as it likes. */
function findingIn(details: string): Readonly<Record<string, unknown>> {
  const { findings } = fieldsOf(JSON.parse(details))
  return fieldsOf(Array.isArray(findings) ? findings[0] : undefined)
}

function isSurge({ measured, band }: Readonly<Record<string, unknown>>): boolean {
  const { high } = fieldsOf(band)
  return typeof measured === 'number' && typeof high === 'number' && measured > high
}

const ANSWERS = { response_4xx: 'HTTP 4xx', response_5xx: 'HTTP 5xx', response_none: 'no answer' } as const

/** The one that came most often. */
function answerIn({ evidence }: Readonly<Record<string, unknown>>): string | null {
  const counts = fieldsOf(evidence)
  const found = Object.entries(ANSWERS).map(([column, words]) => ({ words, count: Number(counts[column] ?? 0) }))
  return found.filter(({ count }) => count > 0).toSorted((a, b) => b.count - a.count)[0]?.words ?? null
}

const textOrNull = (value: unknown): string | null => (typeof value === 'string' ? value : null)
