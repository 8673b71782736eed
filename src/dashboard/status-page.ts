import type { UnresolvedAlert } from '../alerts/index.ts'
import { isoTime, isoTimeOrNull, Kept, MINUTE } from '../lib/index.ts'
import type { Store } from '../store/index.ts'
import { SITE_HEALTH_FRESH_MS, type SiteHealth, type SiteHealthCache } from './site-health.ts'
import { Sparklines } from './sparklines.ts'
import { STATUSES, type Status, worstStatus } from './status.ts'
import type { SharedSite, StatusPage } from './status-page-schemas.ts'

type Content = Omit<StatusPage, 'name'>

/** A page that no one opens for this long is forgotten, ms. */
const IDLE_MS = 10 * MINUTE

/** What the status pages of clients show. A page with many readers is made as often as one with a single one. */
export class StatusPages {
  readonly #store: Store
  readonly #siteHealth: SiteHealthCache
  readonly #pages = new Map<string, { content: Kept<Content>; askedAt: number }>()

  constructor(store: Store, siteHealth: SiteHealthCache) {
    this.#store = store
    this.#siteHealth = siteHealth
  }

  async of(clientId: string, now: number): Promise<Content> {
    const page = this.#pages.get(clientId) ?? this.#open(clientId, now)
    page.askedAt = now
    return page.content.get(now)
  }

  #open(clientId: string, now: number) {
    for (const [id, { askedAt }] of this.#pages) if (now - askedAt > IDLE_MS) this.#pages.delete(id)
    // Of its own, as they keep the shapes of the sites asked for last.
    const sparklines = new Sparklines(this.#store)
    const content = new Kept(SITE_HEALTH_FRESH_MS, (at) => this.#read(clientId, sparklines, at))
    const page = { content, askedAt: now }
    this.#pages.set(clientId, page)
    return page
  }

  async #read(clientId: string, sparklines: Sparklines, now: number): Promise<Content> {
    const all = await this.#siteHealth.get(now)
    const sites = [...all.values()].filter((site) => site.clientId === clientId)
    const siteNos = sites.map(({ siteNo }) => siteNo)
    const hours = await sparklines.of(siteNos, now)
    return {
      generated_at: isoTime(now),
      status: worstStatus(sites.map(({ status }) => status)),
      sites: sites.toSorted(byTrouble).map((site) => sharedSite(site, hours.get(site.siteNo))),
    }
  }
}

const names = new Intl.Collator('en', { numeric: true, sensitivity: 'base' })

const byTrouble = (a: SiteHealth, b: SiteHealth): number =>
  STATUSES.indexOf(a.status) - STATUSES.indexOf(b.status) || names.compare(a.name, b.name)

const sharedSite = (
  { name, status, reason, alerts, lastEventAt }: SiteHealth,
  sparkline: readonly number[] = [],
): SharedSite => ({
  name,
  status,
  reason,
  since: isoTimeOrNull(beganAt(status, alerts)),
  last_event_at: isoTimeOrNull(lastEventAt),
  sparkline: [...sparkline],
  alerts: alerts.map(sharedAlert),
})

const sharedAlert = ({
  subject,
  title,
  severity,
  state,
  startedAt,
  openedAt,
}: UnresolvedAlert): SharedSite['alerts'][number] => ({
  // Why a check cannot run is about how this service is set up, and no business of who has the link.
  title: subject === 'check' ? 'One of our checks cannot run' : title,
  severity,
  state,
  started_at: isoTime(startedAt),
  opened_at: isoTime(openedAt),
})

/** When the oldest problem began that makes the site what it is (epoch ms); null without an alert about it. */
export function beganAt(status: Status, alerts: readonly UnresolvedAlert[]): number | null {
  const explaining = alerts.filter(({ subject, severity }) => {
    if (status === 'error') return subject === 'check'
    if (status === 'critical') return subject === 'target' && severity === 'critical'
    return status === 'warning' && subject === 'target'
  })
  return explaining.length === 0 ? null : Math.min(...explaining.map(({ startedAt }) => startedAt))
}
