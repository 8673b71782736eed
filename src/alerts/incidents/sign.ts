import { isOneService, vendorOf } from '../../analytics/index.ts'
import { fieldsOf, HOUR } from '../../lib/index.ts'
import { WHOLE } from '../../probes/index.ts'
import type { AlertRow } from '../../store/index.ts'
import { badEventsOf } from '../machine/bad.ts'

/**
 * Causes from the strongest to one that explains nothing: our own connection or check; the tag server, its name or certificate; a
 * published container; the consent platform; a silent sender; a missing event; a tag; latency and quality. `other` is for types of
 * probes that are not listed in `KINDS`.
 */
export const CAUSES = ['own', 'server', 'release', 'consent', 'silence', 'event', 'tag', 'quality', 'other'] as const
export type Cause = (typeof CAUSES)[number]

/** The column is text, and a later version may have written a cause that this one does not know. */
export const causeOf = (text: string): Cause => CAUSES.find((known) => known === text) ?? 'other'

/** Returns how strong a cause is: the lower, the stronger. */
export const rankOf = (cause: Cause): number => CAUSES.indexOf(cause)

/** How a vendor's tags are bad, which has to be the same on several sites. */
type Failing = 'failing' | 'missing' | 'slow' | 'refused'

/** How a vendor is bad that refuses our own checks. */
export const LOCKED_OUT_OF = 'locked_out'

/** The vendor of falls that so many sites show at once that they are ours or the network's, and how it is bad. */
export const OURS = 'Tagwarden'
export const FALLS = 'falls'

/** The types of probes that judge whether the events of a whole site arrive. */
export const FALL_TYPES: readonly string[] = ['data_freshness', 'data_volume']

/** The parts of an alert that show what it may have in common with others. */
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
  /** The events that it is about; for a tag, those on which it is bad. Empty: all. */
  events: readonly string[]
  field: string | null
  vendor: string | null
  failing: Failing | null
  /** What the vendor answers when it refuses: `HTTP 4xx`. */
  answer: string | null
  /** Whether the check has no access to Google, because of the service account or its project, which all checks share. */
  isLockedOut: boolean
  /** Whether there is too much, not too little. */
  isSurge: boolean
  /** Whether nothing of it arrived at all. */
  isTotal: boolean
  startedAt: number
  /** When it was found. */
  openedAt: number
  /** How much later than `startedAt` it may have begun, ms: hourly counts date it to the start of the hour. */
  resolutionMs: number
  resolvedAt: number | null
  /** Whether it recovered, and was not resolved by hand or otherwise. */
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
  // An old image is no news, and a release does not make one old.
  image_version: 'other',
  error_budget: 'other',
  // It judges only whether it can read its own counts.
  ga4_counts: 'other',
  // It may be a job of any kind.
  push: 'other',
}

/** How a tag is bad, by the types of probes that judge tags. */
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

/** Returns how much later than its `started_at` an alert may have begun, ms. */
export const resolutionOf = (probeType: string): number => (BY_THE_HOUR.includes(probeType) ? HOUR : 0)

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
  const details = fieldsOf(JSON.parse(alert.details))
  const finding = findingIn(details)
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
    vendor: alert.subject !== 'check' ? vendorIn(alert, tag ?? null) : isLockedOut(details) ? GOOGLE_APIS : null,
    failing: isTooSoon(finding) ? null : (FAILING[alert.probe_type] ?? null),
    answer: alert.probe_type === 'vendor_status' ? answerIn(finding) : null,
    isLockedOut: alert.subject === 'check' && isLockedOut(details),
    isSurge: isSurge(finding) && alert.probe_type === 'data_volume',
    isTotal: alert.probe_type === 'data_volume' && finding.measured === 0,
    startedAt: alert.started_at,
    openedAt: alert.opened_at,
    resolutionMs: resolutionOf(alert.probe_type),
    resolvedAt: alert.resolved_at,
    hasRecovered: alert.resolution === 'recovered',
  }
}

/** Returns why the site's requests are refused, as `Refusals` says it, where that is what the alert is about. */
export const refusedFor = ({ details }: Pick<AlertRow, 'details'>): unknown =>
  fieldsOf(fieldsOf(JSON.parse(details)).refused).why

/** The vendor of checks that have no access to Google. */
export const GOOGLE_APIS = 'Google APIs'

/** Reasons of a `GoogleFailure` that are about the service account or its project, whatever it was to read. */
const LOCKED_OUT: readonly unknown[] = ['no_credentials', 'bad_credentials', 'refused', 'api_disabled']

/** Some types of probes check several things, each with details of its own. */
const isLockedOut = (details: Readonly<Record<string, unknown>>): boolean =>
  [details, ...Object.values(details)].some((part) => LOCKED_OUT.includes(fieldsOf(part).reason))

/** Whether a tag runs too soon: it is not slow, although the same probe finds both. */
const isTooSoon = ({ evidence }: Readonly<Record<string, unknown>>): boolean => fieldsOf(evidence).reason === 'too_soon'

function kindOf({ probe_type, subject }: SignRow, event: string | null, tag: string | null): Cause {
  if (subject === 'check') return 'own'
  // A tag that ignores consent explains nothing else.
  if (probe_type === 'consent_signals' && tag !== null) return 'quality'
  const kind = KINDS[probe_type] ?? 'other'
  return kind === 'silence' && (subject !== WHOLE || event !== null) ? 'event' : kind
}

function vendorIn({ probe_type, vendor: said }: SignRow, tag: string | null): string | null {
  if (probe_type === 'warehouse_events') return 'bigquery'
  const vendor = tag === null ? null : (said ?? vendorOf(tag)?.id ?? null)
  return vendor !== null && isOneService(vendor) ? vendor : null
}

/** Returns the worst finding, which is the first, in a result's details, whose fields depend on the type of probe. */
function findingIn({ findings }: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return fieldsOf(Array.isArray(findings) ? findings[0] : undefined)
}

function isSurge({ measured, band }: Readonly<Record<string, unknown>>): boolean {
  const { high } = fieldsOf(band)
  return typeof measured === 'number' && typeof high === 'number' && measured > high
}

const ANSWERS = { response_4xx: 'HTTP 4xx', response_5xx: 'HTTP 5xx', response_none: 'no answer' } as const

/** Returns the most frequent answer. */
function answerIn({ evidence }: Readonly<Record<string, unknown>>): string | null {
  const counts = fieldsOf(evidence)
  const found = Object.entries(ANSWERS).map(([column, words]) => ({ words, count: Number(counts[column] ?? 0) }))
  return found.filter(({ count }) => count > 0).toSorted((a, b) => b.count - a.count)[0]?.words ?? null
}

const textOrNull = (value: unknown): string | null => (typeof value === 'string' ? value : null)
