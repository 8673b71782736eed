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
  const { site } = history
  // Who looks seldom learns seldom.
  const volume = volumeInputs(history, localTime(site.timezone), every > RUN_EVERY ? 12 : undefined)
  const outcomes = outcomeInputs(history)
  const latencies = latencyInputs(history, localTime(site.timezone))
  const missing = missingInputs(history)
  const userData = presenceInputs(history, USER_DATA)
  const ecommerce = presenceInputs(history, ECOMMERCE)
  const first = Math.max(firstSlot, site.bornOn * SLOTS_A_DAY + SLOTS_AN_HOUR)
  for (let slot = first; slot < SLOTS; slot += every) {
    if (isLeftOut(slot)) continue
    const now = timeOf(slot)
    const counts = volume(slot)
    log.add('data_volume', slot, dataVolume(counts, DATA_VOLUME_DEFAULTS))
    log.add('data_freshness', slot, dataFreshness({ now, ...counts, outages: [] }, DATA_FRESHNESS_DEFAULTS))
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
    if (site.batch > 1) continue
    log.add('tag_latency', slot, tagLatency({ now, bounds: BOUNDS, tags: latencies(slot) }, TAG_LATENCY_DEFAULTS))
    log.add('tag_missing', slot, tagMissing(missing(slot), TAG_MISSING_DEFAULTS))
  }
}
