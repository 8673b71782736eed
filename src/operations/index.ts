export { healthRoutes } from './health.ts'
export { metricsRoutes, type RegisterMetrics } from './metrics.ts'
export { SelfWatch } from './self-watch.ts'
export { type NodeRecord, nodeRoutes, type ServiceSettings, settingsRoutes } from './service.ts'
