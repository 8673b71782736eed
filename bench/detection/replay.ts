import { ecommerceScore, userDataScore } from '../../src/analytics/index.ts'
import {
  DATA_FRESHNESS_DEFAULTS,
  DATA_VOLUME_DEFAULTS,
  dataFreshness,
  dataVolume,
  ecommerceQuality,
  localTime,
  QUALITY_DEFAULTS,
  TAG_FAILURE_RATE_DEFAULTS,
  TAG_LATENCY_DEFAULTS,
  TAG_MISSING_DEFAULTS,
  tagFailureRate,
  tagLatency,
  tagMissing,
  userDataQuality,
  type Verdict,
} from '../../src/detection/index.ts'
import { BOUNDS, type SiteHistory } from './history.ts'
import { missingInputs } from './inputs/missing.ts'
import { presenceInputs } from './inputs/presence.ts'
import { latencyInputs, outcomeInputs } from './inputs/tags.ts'
import { volumeInputs } from './inputs/volume.ts'
import { ECOMMERCE, USER_DATA } from './profile.ts'
import { FIRST_JUDGED, RUN_EVERY, SLOTS, SLOTS_A_DAY, SLOTS_AN_HOUR, timeOf } from './world.ts'

/** Takes what each probe said at each run. */
export interface VerdictLog {
  add: (probe: string, slot: number, verdict: Verdict) => void
}

/**
 * Runs every data probe with its default settings on a site.
 *
 * @param firstSlot of the last three weeks, unless something else is said
 * @param every slots between two runs
 * @param isLeftOut of the runs those that are not of interest
 */
export function replay(
  history: SiteHistory,
  log: VerdictLog,
  firstSlot = FIRST_JUDGED,
  every = RUN_EVERY,
  isLeftOut: (slot: number) => boolean = () => false,
): void {
  const { site, scope } = history
  const volume = volumeInputs(history, localTime(site.timezone), learntEvery(every))
  const others = scope === 'all' ? otherProbes(history, log) : null
  for (let slot = firstRun(history, firstSlot); slot < SLOTS; slot += every) {
    if (isLeftOut(slot)) continue
    const counts = volume(slot)
    log.add('data_volume', slot, dataVolume(counts, DATA_VOLUME_DEFAULTS))
    log.add(
      'data_freshness',
      slot,
      dataFreshness({ now: timeOf(slot), ...counts, outages: [] }, DATA_FRESHNESS_DEFAULTS),
    )
    others?.(slot)
  }
}

/** A site is watched from its first hour on. */
export const firstRun = ({ site }: SiteHistory, firstSlot: number): number =>
  Math.max(firstSlot, site.bornOn * SLOTS_A_DAY + SLOTS_AN_HOUR)

/** Who looks seldom learns seldom. */
export const learntEvery = (every: number): number | undefined => (every > RUN_EVERY ? 12 : undefined)

/** The probes that do not look at volume. */
function otherProbes(history: SiteHistory, log: VerdictLog): (slot: number) => void {
  const { site } = history
  const outcomes = outcomeInputs(history)
  const latencies = latencyInputs(history, localTime(site.timezone))
  const missing = missingInputs(history)
  const userData = presenceInputs(history, USER_DATA)
  const ecommerce = presenceInputs(history, ECOMMERCE)
  return (slot) => {
    const now = timeOf(slot)
    log.add('tag_failure_rate', slot, tagFailureRate({ now, tags: outcomes(slot) }, TAG_FAILURE_RATE_DEFAULTS))
    log.add(
      'user_data_quality',
      slot,
      userDataQuality({ now, ...userData(slot), score: userDataScore }, QUALITY_DEFAULTS),
    )
    log.add(
      'ecommerce_quality',
      slot,
      ecommerceQuality({ now, ...ecommerce(slot), score: ecommerceScore }, QUALITY_DEFAULTS),
    )
    // Batches say neither how long single executions took nor on which event a tag ran.
    if (site.batch > 1) return
    log.add('tag_latency', slot, tagLatency({ now, bounds: BOUNDS, tags: latencies(slot) }, TAG_LATENCY_DEFAULTS))
    log.add('tag_missing', slot, tagMissing(missing(slot), TAG_MISSING_DEFAULTS))
  }
}
