import { Type } from 'typebox'
import { DAY } from '../lib/index.ts'
import { type ProbeState, UNJUDGED_REASONS, type UnjudgedReason } from '../probes/index.ts'

/** From what needs a person first to what needs none. */
export const STATUSES = ['critical', 'error', 'warning', 'ok', 'unknown'] as const
export type Status = (typeof STATUSES)[number]
export const Status = Type.Enum([...STATUSES], {
  description: 'The worst of what was judged; `unknown` while nothing was',
})

/** The status of a whole from those of its parts: the worst that is known, `unknown` while nothing is. */
export function worstStatus(parts: readonly Status[]): Status {
  return STATUSES.find((status) => parts.includes(status)) ?? 'unknown'
}

/** What one probe says of its site: `unknown` before its first result and when its last one judged nothing. */
export const probeStatus = ({ status, reason }: Pick<ProbeState, 'status' | 'reason'>): Status =>
  status === null || reason !== null ? 'unknown' : status

export interface SiteStatus {
  status: Status
  /** Why it is unknown: nothing has come, or it is not known yet what is usual; null otherwise. */
  reason: UnjudgedReason | null
}

/** Without a probe that knows what is usual, an event this old is no sign that the site works, ms. */
const RECENT_MS = DAY
/** They judge whether events come as they should. */
const NORM_PROBES: readonly string[] = ['data_freshness', 'data_volume']

/**
 * A site's status, from its active probes: the worst that was judged. `ok` it is only if at least one probe judged, and its
 * events are within their norm: a probe that knows the norm says so, or, while none does, the newest came in the last 24 hours.
 *
 * @param lastEventAt epoch ms, null when none ever came
 */
export function siteStatus(
  probes: readonly Pick<ProbeState, 'probeType' | 'status' | 'reason'>[],
  lastEventAt: number | null,
  now: number,
): SiteStatus {
  const judged = probes.filter((probe) => probeStatus(probe) !== 'unknown')
  const status = worstStatus(judged.map(probeStatus))
  if (status !== 'ok' && status !== 'unknown') return { status, reason: null }
  if (lastEventAt === null) return { status: 'unknown', reason: 'no_data' }
  const isWithinNorm = judged.some(({ probeType }) => NORM_PROBES.includes(probeType)) || now - lastEventAt <= RECENT_MS
  if (!isWithinNorm) return { status: 'unknown', reason: 'no_data' }
  if (status === 'ok') return { status, reason: null }
  const reasons = probes.map(({ reason }) => reason)
  return { status, reason: UNJUDGED_REASONS.findLast((reason) => reasons.includes(reason)) ?? null }
}
