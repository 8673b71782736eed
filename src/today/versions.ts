import { firstIdAt } from '../lib/index.ts'
import { chunksOf, type DeployMarkerTable, type Kysely, type Tables } from '../store/index.ts'

/** More is a release train, and each site's own page lists them all. */
const MOST = 50

export type Version = Pick<DeployMarkerTable, 'site_id' | 'at' | 'source' | 'from_version' | 'to_version'>

/** Versions first seen at these sites within the window (epoch ms), latest first. */
export async function versionsIn(
  db: Kysely<Tables>,
  siteIds: readonly string[],
  { from, to }: { from: number; to: number },
): Promise<Version[]> {
  const found: (Version & { id: string })[] = []
  for (const chunk of chunksOf(siteIds)) {
    const rows = await db
      .selectFrom('deploy_markers')
      .select(['id', 'site_id', 'at', 'source', 'from_version', 'to_version'])
      .where('site_id', 'in', chunk)
      // Ids begin with the time, and the index is by site and id.
      .where('id', '>=', firstIdAt(from))
      .where('id', '<', firstIdAt(to))
      .orderBy('id', 'desc')
      .limit(MOST)
      .execute()
    found.push(...rows)
  }
  return found
    .sort((a, b) => (a.id < b.id ? 1 : -1))
    .slice(0, MOST)
    .map(({ id: _, ...version }) => version)
}

/** `web container 41 → 42` */
export const versionInWords = (version: { source: string; from_version: string | null; to_version: string }): string =>
  `${version.source} ${version.from_version === null ? version.to_version : `${version.from_version} → ${version.to_version}`}`
