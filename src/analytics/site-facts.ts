import { floorTo, MINUTE } from '../lib/index.ts'
import { OTHER, type TimeRange } from '../rollups/index.ts'
import { type Kysely, type Tables, totalOf } from '../store/index.ts'
import { type TagIdentity, tagIdentity } from './tag-identity.ts'

export interface ContainerReport {
  container_id: string
  /** Epoch ms. */
  last_seen: number
}

/** Containers that a report names. */
const CONTAINERS_SHOWN = 100

/** The last containers that sent something, the latest first; not bound to a window. */
export async function containersOf(db: Kysely<Tables>, siteNo: number): Promise<ContainerReport[]> {
  return db
    .selectFrom('site_containers')
    .select(['container_id', 'last_seen_at as last_seen'])
    .where('site_no', '=', siteNo)
    .orderBy('last_seen_at', 'desc')
    .orderBy('container_id')
    .limit(CONTAINERS_SHOWN)
    .execute()
}

/** When tag ids went over the cap of a day for the last time, epoch ms, or null: the fold leaves a note of it. */
export async function idsOverCapAt(db: Kysely<Tables>, siteNo: number): Promise<number | null> {
  const row = await db
    .selectFrom('tag_names')
    .select('last_seen_at')
    .where('site_no', '=', siteNo)
    .where('container_id', '=', OTHER)
    .where('tag_id', '=', OTHER)
    .executeTakeFirst()
  return row?.last_seen_at ?? null
}

/** How many requests were refused in the minutes of `range`, by reason. */
export async function rejectionsOf(
  db: Kysely<Tables>,
  siteNo: number,
  range: TimeRange,
): Promise<Record<string, number>> {
  const rows = await db
    .selectFrom('rejection_counts')
    .select(['reason', totalOf('total').as('count')])
    .where('site_no', '=', siteNo)
    .where('bucket', '>=', floorTo(range.from, MINUTE))
    .where('bucket', '<', range.to)
    .groupBy('reason')
    .orderBy('reason')
    .execute()
  return Object.fromEntries(rows.map(({ reason, count }) => [reason, count]))
}

export async function identityOf(db: Kysely<Tables>, siteNo: number): Promise<TagIdentity> {
  const rows = await db
    .selectFrom('tag_names')
    .select(['container_id', 'tag_id', 'tag_name', 'last_seen_at'])
    .where('site_no', '=', siteNo)
    .execute()
  return tagIdentity(rows)
}

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
