export { type DashboardOptions, dashboardRoutes } from './routes.ts'
export type { ClientState, Overview, SiteState } from './schemas.ts'
export type { Status } from './status.ts'
export type { StreamEvents } from './stream-events.ts'
