export { DAY_STATUSES, dayStatus, readSiteDays, type SiteDay, totalTimes, uptimeOf } from './read-days.ts'
export { type UptimeAnswer, uptimeRoutes } from './routes.ts'
export { Uptime, type UptimeOptions } from './uptime.ts'
