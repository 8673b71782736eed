import type { HttpApp } from '../http/index.ts'
import type { Clock } from '../lib/index.ts'
import type { Store } from '../store/index.ts'
import { badgeRoutes } from './badge.ts'
import { sharedIncidentRoutes } from './shared-incident.ts'
import { siteHealthCache } from './site-health.ts'
import { statusPageRoutes } from './status-page.ts'

/** What is shown to people without a key: status pages of clients, and badges of sites. */
export function sharingRoutes(app: HttpApp, { store, clock }: { store: Store; clock: Clock }): void {
  const siteHealth = siteHealthCache(store)
  badgeRoutes(app, siteHealth, clock)
  statusPageRoutes(app, { store, siteHealth, clock })
  sharedIncidentRoutes(app, { store, clock })
}
