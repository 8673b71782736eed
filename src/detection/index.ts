export { logChanceTogether } from './across-sites.ts'
export type { BadExecutionsConfig } from './bad-executions.ts'
export { BAD_SHARE_DEFAULTS } from './bad-share.ts'
export { CAPTURED_DEFAULTS, type CapturedDay, canJudge, capturedShare } from './captured-share.ts'
export {
  CONSENT_DEFAULTS,
  type ConsentConfig,
  type ConsentField,
  type ConsentInput,
  type ConsentPast,
  type ConsentWeeks,
  consentSignals,
  deniedShares,
  learnConsent,
  learnTagConsent,
  type Purpose,
  type TagConsentHistory,
} from './consent-signals.ts'
export { DATA_FRESHNESS_DEFAULTS, dataFreshness, freshnessLimits, freshnessSoFar } from './data-freshness.ts'
export {
  dataVolume,
  doublingCandidates,
  hasBrokenOff,
  hourLimits,
  type VolumeInput,
  type VolumeSoFar,
  volumeSoFar,
} from './data-volume.ts'
export { type Expectation, expectationOf, type HourLimits } from './expectation.ts'
export { FEEDBACK_VERDICTS, type Feedback, type FeedbackVerdict, LEARNT_FOR } from './feedback.ts'
export { fieldContract, learnParameter, type OwnParameter, PARAMETER } from './field-contract.ts'
export { counted, type Loss, lossOf, type Ran, runsMissed } from './loss.ts'
export { type OpenFall, type OpenFalls, openFalls } from './open-fall.ts'
export type { Band } from './passing.ts'
export type { PastFields, PresenceWeeks } from './past-fields.ts'
export {
  ecommerceQuality,
  learnPresence,
  MIN_USUAL_EVENTS,
  type PresenceHistory,
  QUALITY_DEFAULTS,
  type QualityConfig,
  type QualityInput,
  userDataQuality,
} from './quality.ts'
export { type Multiples, REPEAT_HOURS, type Times } from './repeats.ts'
export { SeriesReplay } from './series-replay.ts'
export {
  type DuplicateField,
  duplicates,
  type IdentifierField,
  identifierQuality,
  learnDuplicates,
  learnIdentifiers,
  learnValues,
  type ValueField,
  valueQuality,
} from './signal-quality.ts'
export { median, robustSpread } from './statistics.ts'
export { type OutcomeBucket, TAG_FAILURE_RATE_DEFAULTS, tagFailureRate } from './tag-failure-rate.ts'
export {
  type LatencyBucket,
  latencySoFar,
  MIN_USUAL_EXECUTIONS,
  MIN_USUAL_HOURS,
  TAG_LATENCY_DEFAULTS,
  type TagLatencies,
  tagLatency,
} from './tag-latency.ts'
export {
  TAG_MISSING_DEFAULTS,
  type TagMissingConfig,
  type TagMissingInput,
  type TagOnEvent,
  tagMissing,
} from './tag-missing.ts'
export { hoursCompared, type LocalTime, localTime, sameHoursBefore, type TimeRange } from './time.ts'
export {
  type HourCounts,
  type HourHistory,
  type UsualCounts,
  usualCounts,
  usualCountsInTurns,
} from './usual-counts.ts'
export { eventsIn, type FieldCounts, type PresenceBucket } from './usual-share.ts'
export { VENDOR_STATUS_DEFAULTS, vendorStatus } from './vendor-status.ts'
export {
  type Finding,
  isBad,
  type Status,
  type Subject,
  type SubjectFinding,
  UNJUDGED_REASONS,
  type UnjudgedReason,
  type Verdict,
  verdictOf,
} from './verdict.ts'
export { DATA_VOLUME_DEFAULTS, type VolumeConfig } from './volume-assessment.ts'
export { type BucketCounts, type RecentCounts, withoutOutages } from './volume-counts.ts'
export {
  besideRest,
  chanceOf,
  countChange,
  LEAST_NOISE,
  levelNoise,
  type Runs,
  shareChange,
  shareNoise,
  significant,
  USUAL_NOISE,
  type WeekChange,
} from './week-change.ts'
