export { type DashboardOptions, dashboardRoutes } from './routes.ts'
