import type { HttpApp } from '../http/index.ts'
import { auditRoutes } from './audit.ts'
import { clientRoutes } from './client-routes.ts'
import type { ManagementOptions } from './context.ts'
import { siteRoutes } from './site-routes.ts'
import { statusLinkRoutes } from './status-links.ts'

/** Adds the management interface: clients, their status links, sites and the audit log. */
export function managementRoutes(app: HttpApp, options: ManagementOptions): void {
  clientRoutes(app, options)
  statusLinkRoutes(app, options)
  siteRoutes(app, options)
  auditRoutes(app, options)
}
