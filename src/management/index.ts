export type { AddAnnotation, AnnotationRecord } from './annotations.ts'
export { clearAudit, clientOfChange, maskedUrl, onlyClientOf, writeAudit } from './audit.ts'
export type { AuditRecord } from './audit-log.ts'
export { CANARY_PREFIX, isCanaryOf, newCanaryName } from './canary-name.ts'
export {
  ActiveOnly,
  type ClientRecord,
  type CreateClient,
  type Digest,
  digestOf,
  Name,
  ONE_LINE,
  UpdateClient,
} from './client-schemas.ts'
export { checkClient, createClient, getClient, OVERRIDES, TERMS, updateClient } from './clients.ts'
export {
  type Context,
  CreateQuery,
  contextOf,
  type DeletedSite,
  type DeletionHooks,
  hooksInOrder,
  lockClient,
  lockSite,
  type ManagementOptions,
  requireNewName,
  requireRoom,
  signedBy,
} from './context.ts'
export { clearKeys } from './create-keys.ts'
export { hasNoKey, keyState, keysOf } from './key-validity.ts'
export { createOncePerKey } from './keyed-creates.ts'
export { lastEventAt, lastEventTimes } from './last-events.ts'
export { pausedIn, readPauses } from './pauses.ts'
export {
  type Limits,
  limitsOf,
  monthUsage,
  monthUsages,
  PLAN_LIMITS,
  type Plan,
  type QuotaUsage,
  type UsageRecord,
} from './plans.ts'
export { managementRoutes } from './routes.ts'
export { removeViewsOf, type SavedViewRecord, type SaveView } from './saved-views.ts'
export type { AddKey, ChangeKey, RotateKey, SiteKeyRecord } from './site-key-schemas.ts'
export { type KeyUse, listKeys, writeKeyUses } from './site-keys.ts'
export { type CreateSite, checkSite, type SiteRecord, UpdateSite } from './site-schemas.ts'
export {
  BLANK_SITE,
  createSite,
  MOST_OF_CLIENT as MOST_SITES,
  requireSite,
  updateSite,
} from './sites.ts'
export { type MarkSpecialDays, type SpecialDaysRecord, specialDaysOf } from './special-days.ts'
export { clientOfStatusLink, type StatusLinkRecord } from './status-links.ts'
export {
  checkedLooks,
  keptLogo,
  logoFingerprint,
  readStatusLooks,
  StatusLooks,
  statusLooks,
  UpdateStatusLooks,
} from './status-looks.ts'
