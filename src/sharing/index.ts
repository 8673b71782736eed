export { sharingRoutes } from './routes.ts'
export type { SharedIncident } from './shared-incident.ts'
export type { SharedSite, StatusPage } from './status-page.ts'
