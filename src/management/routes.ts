import type { HttpApp } from '../http/index.ts'
import { annotationRoutes } from './annotations.ts'
import { auditRoutes } from './audit-log.ts'
import { clientRoutes } from './client-routes.ts'
import type { ManagementOptions } from './context.ts'
import { savedViewRoutes } from './saved-views.ts'
import { siteKeyRoutes } from './site-key-routes.ts'
import { siteRoutes } from './site-routes.ts'
import { specialDayRoutes } from './special-days.ts'
import { statusLinkRoutes } from './status-links.ts'
import { statusLooksRoutes } from './status-looks.ts'

/**
 * Adds the management routes: clients, status links and pages, sites with their keys and special days, annotations, saved views
 * and the audit log.
 */
export function managementRoutes(app: HttpApp, options: ManagementOptions): void {
  clientRoutes(app, options)
  statusLinkRoutes(app, options)
  statusLooksRoutes(app, options)
  siteRoutes(app, options)
  siteKeyRoutes(app, options)
  specialDayRoutes(app, options)
  annotationRoutes(app, options)
  savedViewRoutes(app, options)
  auditRoutes(app, options)
}
