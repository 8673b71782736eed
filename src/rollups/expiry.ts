import { type SqlBool, sql } from 'kysely'
import type { Store } from '../store/index.ts'
import { removeFirstRows, untilDone } from './removal.ts'

/** Containers, and links of tag ids to names, that a site keeps at most: those seen last. */
export const KEPT_CONTAINERS = 500
export const KEPT_LINKS = 5_000

const KEPT = { site_containers: KEPT_CONTAINERS, tag_names: KEPT_LINKS } as const

/**
 * Deletes what a site has of containers and links beyond the number that is kept, and what was not seen since `before`, in steps.
 * The container seen last stays: it says when the site was last heard of.
 *
 * @param before epoch ms
 * @returns false when it was told to stop before the end
 */
export async function expireSeen(
  store: Store,
  siteNo: number,
  before: number,
  mayGoOn: () => boolean,
): Promise<boolean> {
  for (const table of ['site_containers', 'tag_names'] as const) {
    const newest = await seenAt(store, table, siteNo, 0)
    if (newest === undefined) continue
    const limit = table === 'site_containers' ? Math.min(before, newest) : before
    const firstBeyond = (await seenAt(store, table, siteNo, KEPT[table])) ?? -1
    // Of several seen at the same time all go: the number is a bound, and no promise.
    const isGone = sql<SqlBool>`(last_seen_at < ${limit} or last_seen_at <= ${firstBeyond})`
    if (!(await untilDone(() => removeFirstRows(store, table, siteNo, isGone), mayGoOn))) return false
  }
  return true
}

/** When the site's row at this place was seen, the latest first. */
async function seenAt(
  store: Store,
  table: keyof typeof KEPT,
  siteNo: number,
  place: number,
): Promise<number | undefined> {
  const row = await store.read
    .selectFrom(table)
    .select('last_seen_at')
    .where('site_no', '=', siteNo)
    .orderBy('last_seen_at', 'desc')
    .limit(1)
    .offset(place)
    .executeTakeFirst()
  return row?.last_seen_at
}
