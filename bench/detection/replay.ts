import { ecommerceScore, userDataScore } from '../../src/analytics/index.ts'
import {
  BAD_SHARE_DEFAULTS,
  CONSENT_DEFAULTS,
  consentSignals,
  DATA_FRESHNESS_DEFAULTS,
  DATA_VOLUME_DEFAULTS,
  dataFreshness,
  dataVolume,
  doublingCandidates,
  duplicates,
  ecommerceQuality,
  hasBrokenOff,
  identifierQuality,
  learnDuplicates,
  learnIdentifiers,
  learnPresence,
  learnValues,
  localTime,
  type OpenFalls,
  openFalls,
  QUALITY_DEFAULTS,
  TAG_FAILURE_RATE_DEFAULTS,
  TAG_LATENCY_DEFAULTS,
  TAG_MISSING_DEFAULTS,
  tagFailureRate,
  tagLatency,
  tagMissing,
  userDataQuality,
  VENDOR_STATUS_DEFAULTS,
  type Verdict,
  valueQuality,
  vendorStatus,
  verdictOf,
} from '../../src/detection/index.ts'
import { DUPLICATE_FIELDS, IDENTIFIER_FIELDS, VALUE_FIELDS } from './faults.ts'
import { BOUNDS, type SiteHistory } from './history.ts'
import { missingInputs } from './inputs/missing.ts'
import { presenceInputs } from './inputs/presence.ts'
import { consentInputs, responseInputs } from './inputs/signals.ts'
import { latencyInputs, outcomeInputs } from './inputs/tags.ts'
import { repeatInputs, volumeInputs } from './inputs/volume.ts'
import { ECOMMERCE, USER_DATA } from './profile.ts'
import { DOUBLED_PROBE } from './score.ts'
import type { Signals } from './signals.ts'
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
  const repeats = repeatInputs(history)
  const volume = volumeInputs(history, localTime(site.timezone), learntEvery(every))
  const others =
    history.signals !== undefined
      ? signalProbes(history, history.signals, log)
      : scope === 'all'
        ? otherProbes(history, log)
        : null
  let brokeOffAt: number | null = null
  let open: OpenFalls = new Map()
  for (let slot = firstRun(history, firstSlot); slot < SLOTS; slot += every) {
    if (isLeftOut(slot)) continue
    const counts = volume(slot)
    const input = { ...counts, repeats: repeats(slot, doublingCandidates(counts, DATA_VOLUME_DEFAULTS)) }
    if (history.signals !== undefined) {
      log.add(DOUBLED_PROBE, slot, onlyDoubled(dataVolume(input, DATA_VOLUME_DEFAULTS)))
      others?.(slot)
      continue
    }
    const verdict = dataVolume({ ...input, brokeOffAt, open }, DATA_VOLUME_DEFAULTS)
    open = openFalls(verdict, open, counts.usual)
    if (hasBrokenOff(verdict)) brokeOffAt = timeOf(slot)
    log.add('data_volume', slot, verdict)
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

/** Of what data_volume says, the doublings: what falls is measured with the faults of counts. */
const onlyDoubled = ({ details }: Verdict): Verdict =>
  verdictOf(
    details.findings.filter(({ evidence }) => evidence.kind === 'doubled'),
    'nothing doubled',
  )

/** The probes that live on what version 2 of the tag says, and the one of durations. */
function signalProbes(history: SiteHistory, signals: Signals, log: VerdictLog): (slot: number) => void {
  const lost = { lost_share: QUALITY_DEFAULTS.lost_share, lost_min_rate: QUALITY_DEFAULTS.lost_min_rate }
  const doubles = presenceInputs(signals.presence, DUPLICATE_FIELDS, (weeks) =>
    learnDuplicates(weeks, { ...lost, ...BAD_SHARE_DEFAULTS }),
  )
  const values = presenceInputs(signals.presence, VALUE_FIELDS, (weeks) => learnValues(weeks, BAD_SHARE_DEFAULTS))
  const identifiers = presenceInputs(
    signals.presence,
    IDENTIFIER_FIELDS,
    (weeks) => learnIdentifiers(weeks, lost),
    true,
  )
  const consent = consentInputs(signals, CONSENT_DEFAULTS)
  const responses = responseInputs(signals)
  const latencies = latencyInputs(history, localTime(history.site.timezone))
  return (slot) => {
    const now = timeOf(slot)
    log.add('duplicates', slot, duplicates({ now, ...doubles(slot) }, { ...lost, ...BAD_SHARE_DEFAULTS }))
    log.add('value_quality', slot, valueQuality({ now, ...values(slot) }, BAD_SHARE_DEFAULTS))
    log.add('identifier_quality', slot, identifierQuality({ now, ...identifiers(slot) }, lost))
    log.add('consent_signals', slot, consentSignals({ now, ...consent(slot) }, CONSENT_DEFAULTS))
    log.add('vendor_status', slot, vendorStatus({ now, tags: responses(slot) }, VENDOR_STATUS_DEFAULTS))
    if (history.site.batch > 1) return
    log.add('tag_latency', slot, tagLatency({ now, bounds: BOUNDS, tags: latencies(slot) }, TAG_LATENCY_DEFAULTS))
  }
}

/** The probes that do not look at volume. */
function otherProbes(history: SiteHistory, log: VerdictLog): (slot: number) => void {
  const { site } = history
  const outcomes = outcomeInputs(history)
  const latencies = latencyInputs(history, localTime(site.timezone))
  const missing = missingInputs(history)
  const userData = presenceInputs(history.presence, USER_DATA, (weeks) =>
    learnPresence(USER_DATA, weeks, QUALITY_DEFAULTS),
  )
  const ecommerce = presenceInputs(history.presence, ECOMMERCE, (weeks) =>
    learnPresence(ECOMMERCE, weeks, QUALITY_DEFAULTS),
  )
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
