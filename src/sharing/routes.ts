import type { HttpApp } from '../http/index.ts'
import type { Clock } from '../lib/index.ts'
import type { Store } from '../store/index.ts'
import { badgeRoutes } from './badge.ts'
import { feedRoutes } from './feed.ts'
import { sharedIncidentRoutes } from './shared-incident.ts'
import { siteHealthCache } from './site-health.ts'
import { logoRoutes, statusPageRoutes, statusPages } from './status-page.ts'
import { subscriptionRoutes } from './subscription-routes.ts'

interface Options {
  store: Store
  clock: Clock
  /** Without a trailing slash; null when not set. */
  publicUrl: string | null
  /** Whether e-mail is set up. */
  isEmailOn: boolean
}

/** Adds the routes for people without a key: clients' status pages with their feeds and subscriptions, and sites' badges. */
export function sharingRoutes(app: HttpApp, { store, clock, publicUrl, isEmailOn }: Options): void {
  const siteHealth = siteHealthCache(store)
  badgeRoutes(app, { store, siteHealth, clock })
  const pages = statusPages(store, siteHealth)
  statusPageRoutes(app, { store, pages, clock, isEmailOn })
  logoRoutes(app, { store })
  feedRoutes(app, { store, pages, clock, publicUrl })
  subscriptionRoutes(app, { store, clock, isEmailOn })
  sharedIncidentRoutes(app, { store, clock })
}
