import { type SqlBool, sql } from 'kysely'
import type { Store } from '../store/index.ts'
import { removeFirstRows, untilDone } from './removal.ts'

/** The most containers, and links of tag ids to names, that a site keeps: those seen last. */
export const KEPT_CONTAINERS = 500
export const KEPT_LINKS = 5_000

const KEPT = { site_containers: KEPT_CONTAINERS, tag_names: KEPT_LINKS } as const

/**
 * Deletes a site's containers and links beyond the number that is kept, and those not seen since `before`, in steps. The
 * container seen last stays: it shows when the site last sent something.
 *
 * @param before epoch ms
 * @returns false when `mayGoOn` ended it early
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
    // Several seen at the same time are all deleted: the number is a bound, not a promise.
    const isGone = sql<SqlBool>`(last_seen_at < ${limit} or last_seen_at <= ${firstBeyond})`
    if (!(await untilDone(() => removeFirstRows(store, table, siteNo, isGone), mayGoOn))) return false
  }
  return true
}

/** When the site's row at this position was seen, the latest first. */
async function seenAt(
  store: Store,
  table: keyof typeof KEPT,
  siteNo: number,
  position: number,
): Promise<number | undefined> {
  const row = await store.read
    .selectFrom(table)
    .select('last_seen_at')
    .where('site_no', '=', siteNo)
    .orderBy('last_seen_at', 'desc')
    .limit(1)
    .offset(position)
    .executeTakeFirst()
  return row?.last_seen_at
}
