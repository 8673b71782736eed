export {
  FEEDBACK_VERDICTS,
  type FeedbackVerdict,
  type Subject,
  type SubjectFinding,
  UNJUDGED_REASONS,
  type UnjudgedReason,
} from '../detection/index.ts'
export {
  createProbe,
  lockProbe,
  requireInterval,
  requireSameHosts,
  updateProbe,
} from './api/changes.ts'
export type { ExpectationRecord } from './api/expectation.ts'
export { MOST_OF_CLIENT as MOST_PROBES } from './api/probe-room.ts'
export { probeRoutes } from './api/routes.ts'
export {
  type CreateProbe,
  type ProbeRecord,
  type ProbeTypeRecord,
  type ResultRecord,
  UnjudgedReason as UnjudgedReasonSchema,
  UpdateProbe,
} from './api/schemas.ts'
export { judgeArrivals } from './canary/judge.ts'
export { type CanaryMemory, withArrivals, withSent } from './canary/memory.ts'
export { claimAfterwards, nextRunAt } from './claims.ts'
export { PROVIDERS as CONSENT_PROVIDERS } from './cmp-check/providers.ts'
export { outcomeOfVerdict } from './counts/judge-counts.ts'
export { type LossCounts, readLosses } from './counts/losses.ts'
export { learnsFromFeedback } from './counts/site-events.ts'
export { RELEASES as IMAGE_RELEASES } from './image-version/judge.ts'
export { OwnConnection } from './own-connection.ts'
export type { GoogleCredentials, ProbeSettings } from './probe-type.ts'
export {
  isAutomatic,
  isMet,
  type JsonObject,
  mergedConfig,
  needsInWords,
  type ProbeOutcome,
  type ProbeType,
  type ResultStatus,
  requireConfig,
  secretNames,
  withDefaults,
} from './probe-type.ts'
export { Probes, type ProbesOptions } from './probes.ts'
export type { PushRecord } from './push/address-routes.ts'
export { pushRoutes } from './push/routes.ts'
export { PROBE_TYPES, registryOf } from './registry.ts'
export {
  type Finished,
  finishedOf,
  SUBJECTS_MAX,
  type SubjectResult,
  subjectKey,
  subjectLabel,
  WHOLE,
} from './result.ts'
export { type Run, type RunTools, runProbe } from './run-probe.ts'
export { type ProbeState, ProbeStates, type ProbesBySite } from './states.ts'
export { PageReader, pagesInThisThread } from './types/pages.ts'
export type { ResultHook } from './write-results.ts'
export { markResults, writeResults } from './write-results.ts'
