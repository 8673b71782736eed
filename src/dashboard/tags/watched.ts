import type { Visible } from '../../http/index.ts'
import { notFound } from '../../lib/index.ts'
import { chunksOf, type Kysely, type Tables } from '../../store/index.ts'
import type { WatchedSite } from './vendor-sums.ts'

/**
 * Returns the active sites of active clients that the caller may see, or of one client.
 *
 * @throws AppError `not_found` for an unknown client
 */
export async function watchedSites(
  db: Kysely<Tables>,
  visible: Visible,
  clientId: string | undefined,
): Promise<WatchedSite[]> {
  let query = db
    .selectFrom('sites')
    .innerJoin('clients', 'clients.id', 'sites.client_id')
    .select(['sites.site_no', 'sites.id', 'sites.client_id'])
    .where('sites.is_active', '=', 1)
    .where('clients.is_active', '=', 1)
    .orderBy('sites.site_no')
  if (visible !== null) query = query.where('sites.client_id', 'in', [...visible])
  if (clientId !== undefined) {
    const client = await db.selectFrom('clients').select('id').where('id', '=', clientId).executeTakeFirst()
    if (client === undefined) throw notFound('Client')
    query = query.where('sites.client_id', '=', clientId)
  }
  return query.execute()
}

/** Versions of a site's containers that sent something recently. */
export interface LiveVersions {
  /** `GTM-ABC1234 42` */
  names: readonly string[]
  /** Whether several versions of one container send, as while a new one is rolled out. */
  isMixed: boolean
}

/** Versions read at once: a site may name thousands. */
const MOST_VERSIONS = 5_000
const MOST_NAMED = 6

/** Returns versions by `site_no`; sites whose containers report none are missing. Only live environments count, no previews. */
export async function liveVersions(
  db: Kysely<Tables>,
  sites: readonly WatchedSite[],
  since: number,
): Promise<Map<number, LiveVersions>> {
  const found = new Map<number, LiveVersions>()
  for (const chunk of chunksOf(sites.map(({ site_no }) => site_no))) {
    for (let left = chunk; left.length > 0; ) {
      const rows = await db
        .selectFrom('container_versions')
        .select(['site_no', 'container_id', 'version', 'environment'])
        .where('site_no', 'in', left)
        .where('last_seen_at', '>=', since)
        .orderBy('site_no')
        .orderBy('container_id')
        .orderBy('version')
        .limit(MOST_VERSIONS)
        .execute()
      const live = rows.filter(({ environment }) => environment === '' || environment.toLowerCase() === 'live')
      for (const [siteNo, ofSite] of Map.groupBy(live, ({ site_no }) => site_no)) {
        const names = [...new Set(ofSite.map(({ container_id, version }) => `${container_id} ${version}`))]
        const containers = new Set(ofSite.map(({ container_id }) => container_id))
        found.set(siteNo, { names: names.slice(0, MOST_NAMED), isMixed: names.length > containers.size })
      }
      left = rows.length < MOST_VERSIONS ? [] : unread(left, rows[0]?.site_no, rows.at(-1)?.site_no)
    }
  }
  return found
}

/**
 * Returns the sites still to read after a full page: those after the last one, and that one again, as its rows may be cut off,
 * unless it alone fills the page.
 */
const unread = (sites: readonly number[], first = 0, last = 0): number[] =>
  sites.filter((siteNo) => siteNo > last || (siteNo === last && last !== first))
