import { Type } from 'typebox'
import { DAY } from '../lib/index.ts'
import { type ProbeState, UNJUDGED_REASONS, type UnjudgedReason } from '../probes/index.ts'

/** From the most to the least urgent. */
export const STATUSES = ['critical', 'error', 'warning', 'ok', 'unknown'] as const
export type Status = (typeof STATUSES)[number]
export const Status = Type.Enum([...STATUSES], {
  description: 'The worst of what was judged; `unknown` while nothing has been judged',
})

/** Returns the status of a whole: the worst known one of its parts, `unknown` while none is known. */
export function worstStatus(parts: readonly Status[]): Status {
  return STATUSES.find((status) => parts.includes(status)) ?? 'unknown'
}

/** Returns what one probe says about its site: `unknown` before its first result and when the last one judged nothing. */
export const probeStatus = ({ status, reason }: Pick<ProbeState, 'status' | 'reason'>): Status =>
  status === null || reason !== null ? 'unknown' : status

export interface SiteStatus {
  status: Status
  /** Why it is unknown: nothing was received, or what is usual is not known yet; null otherwise. */
  reason: UnjudgedReason | null
}

/** When no probe knows what is usual, an event older than this is no sign that the site works, ms. */
const RECENT_MS = DAY
/** The probes that judge whether events arrive as usual. */
const NORM_PROBES: readonly string[] = ['data_freshness', 'data_volume']

/**
 * Returns a site's status from its active probes: the worst that was judged. It is `ok` only if at least one probe judged and
 * events arrive as usual: a probe that knows what is usual says so or, when none does, the last event is at most 24 hours old.
 *
 * @param lastEventAt epoch ms, or null when no event was ever received
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
