import { DAY, HOUR, MINUTE } from '../../lib/index.ts'
import type { AlertRow } from '../../store/index.ts'

/**
 * When an incident is believed to be over. What is estimated from counts (a share, a duration, a volume) swings around its limit: of the
 * alerts of one fault that open again after their end, eight in ten do so within the hour, and nearly all within four. What answers or
 * does not is over when it is.
 */

/** So long after its end what is bad again is the same incident, back. */
export const AGAIN_MS = 4 * HOUR
/**
 * The same of what is estimated: by night, where executions are rare, a loss that goes on is out of sight for hours. That the very same tag, event or
 * field has a fault of its own within this time happens once in some years, at nine faults a month.
 */
const AGAIN_ESTIMATED_MS = 12 * HOUR
/** The same of what says itself that it began before that end: nothing looks back further. */
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

/** How long its end is kept back: people are not notified of it at all when it is bad again by then. */
const ESTIMATED_MS = 90 * MINUTE
/** Of what was back already. */
const BACK_MS = 2 * HOUR

type Told = Pick<AlertRow, 'id' | 'probe_id' | 'probe_type' | 'subject' | 'resolution'>

/**
 * @param alerts of the incident, all of which have ended
 * @param leadId of the alert that explains the others
 */
export function holdMs(alerts: readonly Told[], leadId: string | null, last: Told): number {
  // Someone ended it, or it is gone: that is no swing.
  if (last.resolution !== 'recovered') return 0
  if (isBack(alerts)) return BACK_MS
  const lead = alerts.find(({ id }) => id === leadId) ?? last
  return isEstimated(lead) ? ESTIMATED_MS : 0
}

/** Whether it was bad, well, and bad again. */
function isBack(alerts: readonly Told[]): boolean {
  const keys = alerts.map(({ probe_id, subject }) => `${probe_id} ${subject}`)
  return new Set(keys).size < keys.length
}

/** An alert may end so long after its incident, or what explained it, before it counts as something else. */
export const LATE_MS = 30 * MINUTE
/** What is estimated looks back over hours, the more the rarer its events are. */
export const LATE_ESTIMATED_MS = 3 * HOUR

/** A quiet site that has been silent is well when its next event comes, by night an hour or more after its server is. */
const LATE_SILENCE_MS = 90 * MINUTE

export function lateMs(alert: Pick<AlertRow, 'probe_type'>): number {
  if (isEstimated(alert)) return LATE_ESTIMATED_MS
  return alert.probe_type === 'data_freshness' ? LATE_SILENCE_MS : LATE_MS
}
