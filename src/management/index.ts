export { type AuditRecord, maskedUrl, writeAudit } from './audit.ts'
export {
  ActiveOnly,
  type ClientRecord,
  type CreateClient,
  type Digest,
  digestOf,
  type Limits,
  limitsOf,
  Name,
  type Plan,
  type UpdateClient,
  type UsageRecord,
} from './client-schemas.ts'
export { monthUsage, monthUsages, type QuotaUsage } from './client-usage.ts'
export { createClient, updateClient } from './clients.ts'
export {
  type Context,
  contextOf,
  type DeletedSite,
  type DeletionHooks,
  hooksInOrder,
  lockClient,
  lockSite,
  type ManagementOptions,
} from './context.ts'
export { managementRoutes } from './routes.ts'
export { createSessions } from './sign-ins.ts'
export type { CreateSite, SiteRecord, UpdateSite } from './site-schemas.ts'
export { createSite, lastEventAt, lastEventTimes, requireSite, updateSite } from './sites.ts'
export { clientOfStatusLink, type StatusLinkRecord } from './status-links.ts'
