import { DAY, HOUR, MINUTE } from '../../lib/index.ts'
import type { AlertRow } from '../../store/index.ts'

/**
 * Times after which an incident counts as over. What is estimated from counts (a share, a duration, a volume) swings around its
 * threshold: of the alerts of one fault that open again, 80 % do so within 1 h of their end and nearly all within 4 h. What answers
 * or does not is over when it is.
 */

/** What is bad again within this time of its end is the same incident, back. */
export const AGAIN_MS = 4 * HOUR
/**
 * The same for what is estimated: at night, when executions are rare, a lasting loss cannot be seen for hours. At nine faults a
 * month, the same tag, event or field gets a new fault within this time once in some years.
 */
const AGAIN_ESTIMATED_MS = 12 * HOUR
/** The same for what itself says that it began before that end: no probe looks back further. */
export const LONGEST_AGAIN_MS = DAY

export const againMs = (probeType: string): number => (ESTIMATED.includes(probeType) ? AGAIN_ESTIMATED_MS : AGAIN_MS)

export const ESTIMATED: readonly string[] = [
  'data_volume',
  'tag_failure_rate',
  'vendor_status',
  'tag_latency',
  'user_data_quality',
  'ecommerce_quality',
  'consent_signals',
  'duplicates',
  'value_quality',
  'identifier_quality',
  'field_contract',
  'meta_quality',
]

const isEstimated = ({ probe_type }: Pick<AlertRow, 'probe_type'>): boolean => ESTIMATED.includes(probe_type)

/** How long an estimated end is held back: if it is bad again by then, no one is notified of the end. */
const ESTIMATED_MS = 90 * MINUTE
/** The same for an incident that was already back once. */
const BACK_MS = 2 * HOUR

type Resolved = Pick<AlertRow, 'id' | 'probe_id' | 'probe_type' | 'subject' | 'resolution'>

/**
 * Returns how long the message about an incident's end is held back, ms.
 *
 * @param alerts of the incident, all of which are resolved
 * @param leadId id of the alert that explains the others
 * @param last the alert that was resolved last
 */
export function holdMs(alerts: readonly Resolved[], leadId: string | null, last: Resolved): number {
  // Resolved by hand, or gone: that does not swing back.
  if (last.resolution !== 'recovered') return 0
  if (isBack(alerts)) return BACK_MS
  const lead = alerts.find(({ id }) => id === leadId) ?? last
  return isEstimated(lead) ? ESTIMATED_MS : 0
}

/** Returns whether a subject was bad, good and bad again. */
function isBack(alerts: readonly Resolved[]): boolean {
  const keys = alerts.map(({ probe_id, subject }) => `${probe_id} ${subject}`)
  return new Set(keys).size < keys.length
}

/** An alert may outlast its incident, or what explained it, by this time before it counts as something else. */
export const LATE_MS = 30 * MINUTE
/** The same for what is estimated, which looks back over hours: the rarer its events, the longer. */
export const LATE_ESTIMATED_MS = 3 * HOUR

/** The same for a silent site: on a quiet one the next event may arrive an hour or more after its server has recovered. */
const LATE_SILENCE_MS = 90 * MINUTE

export function lateMs(alert: Pick<AlertRow, 'probe_type'>): number {
  if (isEstimated(alert)) return LATE_ESTIMATED_MS
  return alert.probe_type === 'data_freshness' ? LATE_SILENCE_MS : LATE_MS
}
