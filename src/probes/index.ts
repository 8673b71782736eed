export { type Subject, type SubjectFinding, UNJUDGED_REASONS, type UnjudgedReason } from '../detection/index.ts'
export { createProbe, lockProbe } from './api/changes.ts'
export { probeRoutes } from './api/routes.ts'
export {
  type CreateProbe,
  type ProbeRecord,
  type ProbeTypeRecord,
  type ResultRecord,
  UnjudgedReason as UnjudgedReasonSchema,
  type UpdateProbe,
} from './api/schemas.ts'
export { claimAfterwards } from './claims.ts'
export { withDefaults } from './probe-config.ts'
export type { GoogleCredentials, ProbeSettings } from './probe-type.ts'
export {
  type DeployMarker,
  defineProbeType,
  type ProbeContext,
  type ProbeOutcome,
  type ProbeType,
  type ResultStatus,
} from './probe-type.ts'
export { Probes, type ProbesOptions } from './probes.ts'
export { PROBE_TYPES, registryOf } from './registry.ts'
export { type Finished, finishedOf } from './result.ts'
export type { ResultHook } from './result-writer.ts'
export { RESULTS_PER_PROBE } from './retention.ts'
export { type RunTools, runProbe } from './run-probe.ts'
export { nextRunAt } from './schedule.ts'
export type { Scheduler, SchedulerWatch } from './scheduler.ts'
export { activeProbes, type ProbeState } from './states.ts'
export { OTHERS, SUBJECTS_MAX, type SubjectResult, subjectKey, subjectLabel, WHOLE } from './subjects.ts'
export { PROVIDERS as CONSENT_PROVIDERS } from './types/cmp-check/providers.ts'
export { PageReader } from './types/pages.ts'
export { markResults, writeResults } from './write-results.ts'
