import { createContext, useContext } from 'react'
import type { SiteReport } from '../../api/analytics.ts'
import type { Query } from '../../api/client.ts'
import type { SiteRecord } from '../../api/site.ts'
import type { AlertSpan, DeployMark } from '../../ui/chart/time-option.ts'
import type { Stretch } from './stretch.ts'
import type { SiteView } from './use-site-view.ts'

/** What every chart of the page has in common. */
export interface Frame {
  /** epoch ms */
  from: number
  to: number
  zone: string
  group: string
  alerts: readonly AlertSpan[]
  /** Lines only: their names stand on the first chart. */
  deploys: readonly DeployMark[]
  picked: Stretch | null
}

/** What the parts of a site's page are about. */
export interface SiteScope {
  site: SiteRecord
  view: SiteView
  report: SiteReport
  /** The window of the reports. */
  query: Query
  /** The window before, when it is compared with. */
  before: { query: Query; shift: number } | null
  frame: Frame
  /** With their names. */
  deploys: readonly DeployMark[]
}

/** Names a query that is not asked: this window's would be taken for the one before while that is on its way. */
export const NO_WINDOW: Query = {}

export const SiteScopeContext = createContext<SiteScope | null>(null)

export function useSite(): SiteScope {
  const scope = useContext(SiteScopeContext)
  if (scope === null) throw new Error('Outside of a site page')
  return scope
}
