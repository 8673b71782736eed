import { type UnresolvedAlert, unresolvedAlerts } from '../alerts/index.ts'
import { type SiteStatus, siteStatus } from '../dashboard/index.ts'
import { Kept, MINUTE, SECOND } from '../lib/index.ts'
import { lastEventTimes } from '../management/index.ts'
import { ProbeStates } from '../probes/index.ts'
import type { Store } from '../store/index.ts'

/** Callers without a key cause reads at most this often, ms. */
const SITE_HEALTH_FRESH_MS = 5 * SECOND

/** A site's status and what it is based on. */
export interface SiteHealth extends SiteStatus {
  id: string
  siteNo: number
  clientId: string
  name: string
  timezone: string
  created_at: number
  /** Epoch ms, or null when no event was ever received. */
  lastEventAt: number | null
  /** Its unresolved alerts, the worst first. */
  alerts: readonly UnresolvedAlert[]
}

/** The active sites of active clients by id, up to 5 s old, for callers without a key. */
export type SiteHealthCache = Kept<ReadonlyMap<string, SiteHealth>>

export function siteHealthCache(store: Pick<Store, 'read'>): SiteHealthCache {
  const states = new ProbeStates(store)
  return new Kept(SITE_HEALTH_FRESH_MS, async (now) => {
    const [sites, probes, alerts, seen] = await Promise.all([
      store.read
        .selectFrom('sites')
        .innerJoin('clients', 'clients.id', 'sites.client_id')
        .select(['sites.id', 'sites.site_no', 'sites.client_id', 'sites.name'])
        .select(['sites.timezone', 'sites.created_at'])
        .where('sites.is_active', '=', 1)
        .where('clients.is_active', '=', 1)
        .execute(),
      states.read(),
      unresolvedAlerts(store.read),
      lastEventTimes(store.read),
    ])
    const alertsBySite = Map.groupBy(alerts, ({ siteId }) => siteId)
    return new Map(
      sites.map(({ id, site_no, client_id, name, timezone, created_at }) => [
        id,
        {
          id,
          siteNo: site_no,
          clientId: client_id,
          name,
          timezone,
          created_at,
          ...siteStatus(probes.get(id) ?? [], seen.get(site_no) ?? null, now),
          lastEventAt: seen.get(site_no) ?? null,
          alerts: alertsBySite.get(id) ?? [],
        },
      ]),
    )
  })
}

/** A page that no one opens for this long is dropped, ms. */
const IDLE_MS = 10 * MINUTE

/** Caches what callers without a key see: a page with many readers is built no more often than one with a single reader. */
export class KeptPages<T> {
  readonly #open: (key: string) => (now: number) => Promise<T>
  readonly #pages = new Map<string, { content: Kept<T>; askedAt: number }>()

  /** @param open called when a page is first requested; the function that it returns builds the page */
  constructor(open: (key: string) => (now: number) => Promise<T>) {
    this.#open = open
  }

  async of(key: string, now: number): Promise<T> {
    const page = this.#pages.get(key) ?? this.#add(key, now)
    page.askedAt = now
    return page.content.get(now)
  }

  #add(key: string, now: number) {
    for (const [other, { askedAt }] of this.#pages) if (now - askedAt > IDLE_MS) this.#pages.delete(other)
    const page = { content: new Kept(SITE_HEALTH_FRESH_MS, this.#open(key)), askedAt: now }
    this.#pages.set(key, page)
    return page
  }
}
