import { type UnresolvedAlert, unresolvedAlerts } from '../alerts/index.ts'
import { DAY, Kept, SECOND } from '../lib/index.ts'
import { lastEventTimes } from '../management/index.ts'
import { activeProbes, type ProbeState, UNJUDGED_REASONS, type UnjudgedReason } from '../probes/index.ts'
import type { Store } from '../store/index.ts'

/** From what needs a person first to what needs none. */
export const STATUSES = ['critical', 'error', 'warning', 'ok', 'unknown'] as const
export type Status = (typeof STATUSES)[number]

/** The status of a whole from those of its parts: the worst that is known, `unknown` while nothing is. */
export function worstStatus(parts: readonly Status[]): Status {
  return STATUSES.find((status) => parts.includes(status)) ?? 'unknown'
}

/** What one probe says of its site: `unknown` before its first result and when its last one judged nothing. */
export const probeStatus = ({ status, reason }: Pick<ProbeState, 'status' | 'reason'>): Status =>
  status === null || reason !== null ? 'unknown' : status

export interface SiteStatus {
  status: Status
  /** Why it is unknown: nothing has come, or it is not known yet what is usual; null otherwise. */
  reason: UnjudgedReason | null
}

/** Without a probe that knows what is usual, an event this old is no sign that the site works, ms. */
const RECENT_MS = DAY
/** They judge whether events come as they should. */
const NORM_PROBES: readonly string[] = ['data_freshness', 'data_volume']

/**
 * A site's status, from its active probes: the worst that was judged. `ok` it is only if at least one probe judged, and its
 * events are within their norm: a probe that knows the norm says so, or, while none does, the newest came in the last 24 hours.
 *
 * @param lastEventAt epoch ms, null when none ever came
 */
export function siteStatus(
  probes: readonly Pick<ProbeState, 'probeType' | 'status' | 'reason'>[],
  lastEventAt: number | null,
  now: number,
): SiteStatus {
  const judged = probes.filter((probe) => probeStatus(probe) !== 'unknown')
  const status = worstStatus(judged.map(probeStatus))
  if (status !== 'ok' && status !== 'unknown') return { status, reason: null }
  if (lastEventAt === null) return { status: 'unknown', reason: 'no_data' }
  const isWithinNorm = judged.some(({ probeType }) => NORM_PROBES.includes(probeType)) || now - lastEventAt <= RECENT_MS
  if (!isWithinNorm) return { status: 'unknown', reason: 'no_data' }
  if (status === 'ok') return { status, reason: null }
  const reasons = probes.map(({ reason }) => reason)
  return { status, reason: UNJUDGED_REASONS.findLast((reason) => reasons.includes(reason)) ?? null }
}

/** Callers without a key make us read no more often, ms. */
export const SITE_HEALTH_FRESH_MS = 5 * SECOND

/** A site's status, and what it follows from. */
export interface SiteHealth extends SiteStatus {
  id: string
  siteNo: number
  clientId: string
  name: string
  /** Epoch ms, null when none ever came. */
  lastEventAt: number | null
  /** Its unresolved alerts, the worst first. */
  alerts: readonly UnresolvedAlert[]
}

/** The active sites of active clients, by id: up to 5 s old, for callers without a key. */
export type SiteHealthCache = Kept<ReadonlyMap<string, SiteHealth>>

export const siteHealthCache = (store: Pick<Store, 'read'>): SiteHealthCache =>
  new Kept(SITE_HEALTH_FRESH_MS, async (now) => {
    const [sites, probes, alerts, seen] = await Promise.all([
      store.read
        .selectFrom('sites')
        .innerJoin('clients', 'clients.id', 'sites.client_id')
        .select(['sites.id', 'sites.site_no', 'sites.client_id', 'sites.name'])
        .where('sites.is_active', '=', 1)
        .where('clients.is_active', '=', 1)
        .execute(),
      activeProbes(store.read),
      unresolvedAlerts(store.read),
      lastEventTimes(store.read),
    ])
    const probesBySite = Map.groupBy(probes, ({ siteId }) => siteId)
    const alertsBySite = Map.groupBy(alerts, ({ siteId }) => siteId)
    return new Map(
      sites.map(({ id, site_no, client_id, name }) => [
        id,
        {
          id,
          siteNo: site_no,
          clientId: client_id,
          name,
          ...siteStatus(probesBySite.get(id) ?? [], seen.get(site_no) ?? null, now),
          lastEventAt: seen.get(site_no) ?? null,
          alerts: alertsBySite.get(id) ?? [],
        },
      ]),
    )
  })
