export { sharingRoutes } from './routes.ts'
export type { SharedSite, StatusPage } from './status-page.ts'
