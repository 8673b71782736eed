export { ClockGuard, type Expiry } from './clock-guard.ts'
export { DatabaseClock } from './database-clock.ts'
export { JobRunner, Jobs, type JobsOptions } from './jobs.ts'
export { Leases, type LeasesOptions } from './leases.ts'
export {
  forgetListening,
  isLongOutage,
  Listening,
  type ListeningOptions,
  lastListenedAt,
  type Outage,
  readDowntime,
  readOutages,
  removeOldOutages,
} from './listening.ts'
export { type JoinOptions, Membership } from './membership.ts'
export { type ClusterMetricsOptions, clusterMetrics } from './metrics.ts'
export { DEAD_AFTER_MS, HEARTBEAT_INTERVAL_MS, listNodes, liveNodes, type NodeInfo, SURE_FOR_MS } from './nodes.ts'
