export type { PastIncident, PlannedMaintenance } from './history.ts'
export { sharingRoutes } from './routes.ts'
export type { SharedIncident } from './shared-incident.ts'
export type { SharedSite, StatusPage } from './status-page.ts'
