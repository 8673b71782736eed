export { type HealthOptions, healthRoutes } from './health.ts'
export { type MetricsOptions, metricsRoutes, type RegisterMetrics } from './metrics.ts'
export { SelfWatch, type SelfWatchOptions } from './self-watch.ts'
export { type NodeRecord, type NodesOptions, nodeRoutes, type ServiceSettings, settingsRoutes } from './service.ts'
