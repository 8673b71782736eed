import { MINUTE } from '../lib/index.ts'
import type { AlertRow, Tables, Transaction } from '../store/index.ts'

/** Probes that see one outage of a site's server from two sides. */
const SIDES: readonly string[] = ['http_health', 'tag_server_infra']
/** What begins within this time of the other began with it: the slower of the two runs every 15 minutes. */
const TOGETHER_MS = 20 * MINUTE
const PREFIX = 'alert:'

export type Outage = Pick<
  AlertRow,
  | 'id'
  | 'site_id'
  | 'probe_type'
  | 'severity'
  | 'state'
  | 'title'
  | 'started_at'
  | 'announced_at'
  | 'last_seen_at'
  | 'resolved_at'
>

/** The alerts that may be the same outage as one on these sites: those that are open, and those that kept one of `alerts` quiet. */
export async function outagesOf(
  trx: Transaction<Tables>,
  sites: readonly { siteId: string; probeType: string }[],
  alerts: readonly AlertRow[],
): Promise<Outage[]> {
  const siteIds = [...new Set(sites.flatMap(({ siteId, probeType }) => (SIDES.includes(probeType) ? [siteId] : [])))]
  if (siteIds.length === 0) return []
  const named = alerts.flatMap(({ suppressed_by }) => namedIn(suppressed_by) ?? [])
  return trx
    .selectFrom('alerts')
    .select(['id', 'site_id', 'probe_type', 'severity', 'state', 'title', 'started_at', 'announced_at'])
    .select(['last_seen_at', 'resolved_at'])
    .where('site_id', 'in', siteIds)
    .where('probe_type', 'in', SIDES)
    .where('subject', '=', 'target')
    .where(({ eb, or }) => or([eb('state', '<>', 'resolved'), ...(named.length === 0 ? [] : [eb('id', 'in', named)])]))
    .orderBy('id')
    .execute()
}

/**
 * The alert that people know of already and that covers the same outage as this one, which has notified no one. A resolved one
 * goes on covering it until this one is bad once more: the slower of two probes has not run again yet.
 */
export function sameOutage(
  alert: Outage & Pick<AlertRow, 'suppressed_by'>,
  outages: readonly Outage[],
): Outage | undefined {
  if (!SIDES.includes(alert.probe_type) || alert.announced_at !== null) return undefined
  const named = namedIn(alert.suppressed_by)
  return outages.find(
    (other) =>
      other.site_id === alert.site_id &&
      other.probe_type !== alert.probe_type &&
      other.announced_at !== null &&
      (other.severity === 'critical' || alert.severity !== 'critical') &&
      Math.abs(other.started_at - alert.started_at) <= TOGETHER_MS &&
      (other.resolved_at === null || (other.id === named && other.resolved_at >= alert.last_seen_at)),
  )
}

export const suppressedBy = ({ id }: Outage): string => `${PREFIX}${id}`

const namedIn = (suppressedBy: string | null): string | undefined =>
  suppressedBy?.startsWith(PREFIX) === true ? suppressedBy.slice(PREFIX.length) : undefined
