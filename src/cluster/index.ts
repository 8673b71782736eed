export { ClockGuard, type Expiry } from './clock-guard.ts'
export { DatabaseClock } from './database-clock.ts'
export { exclusively } from './exclusively.ts'
export { expiring } from './expiring.ts'
export { Leases, type LeasesOptions } from './leases.ts'
export {
  Listening,
  type ListeningOptions,
  lastListenedAt,
  type Outage,
  readOutages,
  removeOldOutages,
} from './listening.ts'
export { DEAD_AFTER_MS, HEARTBEAT_INTERVAL_MS, liveNodes, SURE_FOR_MS } from './live-nodes.ts'
export { type JoinOptions, Membership } from './membership.ts'
export { listNodes, type NodeInfo } from './nodes.ts'
