import type { Kysely, Tables } from '../store/index.ts'

/** A critical alert that is not resolved. */
export interface CriticalAlert {
  id: string
  title: string
}

/**
 * The critical alert of each site that caps its score, by site id: of several, the first, as on the wall. What someone has
 * acknowledged is as bad as before. The table is read as it is: alerts are made of what reports say, not the other way round.
 */
export async function criticalAlerts(
  db: Kysely<Tables>,
  siteIds: readonly string[],
): Promise<Map<string, CriticalAlert>> {
  if (siteIds.length === 0) return new Map()
  const rows = await db
    .selectFrom('alerts')
    .select(['site_id', 'id', 'title'])
    .where('state', '<>', 'resolved')
    .where('severity', '=', 'critical')
    .where('site_id', 'in', siteIds)
    .orderBy('id', 'desc')
    .execute()
  return new Map(rows.map(({ site_id, id, title }) => [site_id, { id, title }]))
}
