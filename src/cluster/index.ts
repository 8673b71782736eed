export { ClockGuard, type Expiry } from './clock-guard.ts'
export { DatabaseClock } from './database-clock.ts'
export { JobRunner, Jobs } from './jobs.ts'
export { Leases } from './leases.ts'
export {
  forgetListening,
  isLongOutage,
  LISTENING_INTERVAL_MS,
  Listening,
  lastListenedAt,
  type Outage,
  readDowntime,
  readOutages,
  removeOldOutages,
} from './listening.ts'
export { type JoinOptions, Membership } from './membership.ts'
export { clusterMetrics } from './metrics.ts'
export { DEAD_AFTER_MS, HEARTBEAT_INTERVAL_MS, listNodes, liveNodes, SURE_FOR_MS } from './nodes.ts'
