export { type HealthOptions, healthRoutes } from './health.ts'
export { type MetricsOptions, metricsRoutes } from './metrics.ts'
export { type NodesOptions, nodeRoutes } from './nodes.ts'
