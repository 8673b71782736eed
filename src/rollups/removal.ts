import { type RawBuilder, type SqlBool, sql } from 'kysely'
import { DAY, HOUR } from '../lib/index.ts'
import {
  attemptEach,
  chunksOf,
  type SqlValue,
  type Store,
  type Tables,
  type Transaction,
  untilDone,
} from '../store/index.ts'

/** Rows that a removal or retention step deletes in one transaction: a few milliseconds of the writer's time. */
const ROWS_PER_STEP = 2_000
/** The same for parts of minutes: each is as large as its names make it, half a million characters at most. */
const PARTS_PER_STEP = 100
/**
 * How long after a site's last row was deleted to check again. A journal row that another process left, or a fold under way, may
 * still add rows; none is older than a day when it is folded.
 */
const SECOND_LOOK_AFTER_MS = DAY + HOUR

/** The tables with a site's telemetry, each with the key columns after `site_no`. */
const KEYS = {
  minute_parts: ['bucket', 'container_id', 'part'],
  event_rollups: ['grain', 'bucket', 'container_id', 'event_name'],
  tag_rollups: ['grain', 'bucket', 'container_id', 'tag_key'],
  event_tag_rollups: ['grain', 'bucket', 'container_id', 'event_name', 'tag_key'],
  signal_rollups: ['grain', 'bucket', 'container_id', 'event_name'],
  tag_signal_rollups: ['grain', 'bucket', 'container_id', 'tag_key'],
  field_rollups: ['grain', 'bucket', 'container_id', 'event_name', 'field'],
  rejection_counts: ['bucket', 'reason'],
  dirty_buckets: ['grain', 'bucket'],
  minute_floors: ['gone_before'],
  site_containers: ['container_id'],
  tag_names: ['container_id', 'tag_id', 'tag_name'],
  container_versions: ['container_id', 'version', 'environment'],
  container_clients: ['container_id', 'client_name'],
  daily_names: ['day', 'kind', 'name'],
  recent_payloads: ['id'],
  rejections: ['id'],
  idempotency_keys: ['idempotency_key'],
  canary_arrivals: ['event_name'],
  site_key_uses: ['key_id'],
  reference_counts: ['source', 'event_name', 'bucket'],
} as const satisfies Partial<Record<keyof Tables, readonly string[]>>

type SiteTable = keyof typeof KEYS
const SITE_TABLES = Object.keys(KEYS) as SiteTable[]

/**
 * Marks the rows of these sites for removal. A loop removes them later, in steps.
 *
 * @param now epoch ms
 */
export async function requestRemovals(
  trx: Transaction<Tables>,
  sites: readonly { site_no: number }[],
  now: number,
): Promise<void> {
  const removals = sites.map(({ site_no }) => ({ site_no, requested_at: now, emptied_at: null }))
  for (const chunk of chunksOf(removals)) await trx.insertInto('site_removals').values(chunk).execute()
}

/** Deletes a client's usage of all months. */
export async function removeUsage(trx: Transaction<Tables>, clientId: string): Promise<void> {
  await trx.deleteFrom('client_usage').where('client_id', '=', clientId).execute()
}

/**
 * Removes the rows of deleted sites, step by step, so that ingest and management can write in between. Stops early when
 * `shouldContinue` returns false, and continues from there the next time, also after a restart.
 */
export async function removeDeletedSites(store: Store, now: number, shouldContinue: () => boolean): Promise<void> {
  const removals = await store.read
    .selectFrom('site_removals')
    .selectAll()
    .where((eb) => eb.or([eb('emptied_at', 'is', null), eb('emptied_at', '<=', now - SECOND_LOOK_AFTER_MS)]))
    .execute()
  // A fold under way may have added to a client's usage after the client was deleted.
  if (removals.some(({ emptied_at }) => emptied_at !== null)) await removeUsageOfNoClient(store)
  await attemptEach(removals, async (removal) => {
    if (!(await emptySite(store, removal.site_no, shouldContinue))) return false
    await (removal.emptied_at === null
      ? store.write
          .updateTable('site_removals')
          .set({ emptied_at: now })
          .where('site_no', '=', removal.site_no)
          .execute()
      : store.write.deleteFrom('site_removals').where('site_no', '=', removal.site_no).execute())
    return true
  })
}

async function removeUsageOfNoClient(store: Store): Promise<void> {
  await store.write
    .deleteFrom('client_usage')
    .where('client_id', 'not in', (db) => db.selectFrom('clients').select('id'))
    .execute()
}

/** Returns false when `shouldContinue` ended it early. */
async function emptySite(store: Store, siteNo: number, shouldContinue: () => boolean): Promise<boolean> {
  for (const table of SITE_TABLES) {
    if (!(await untilDone(() => removeFirstRows(store, table, siteNo, sql`1 = 1`), shouldContinue))) return false
  }
  return true
}

/**
 * Deletes the first rows of a site that meet the condition, in key order and at most as many as a step may. Returns whether
 * there may be more.
 */
export async function removeFirstRows(
  store: Store,
  table: SiteTable,
  siteNo: number,
  condition: RawBuilder<SqlBool>,
): Promise<boolean> {
  const columns = KEYS[table]
  const keys = sql.join(columns.map((column) => sql.ref(column)))
  const where = sql`site_no = ${siteNo} and ${condition}`
  const most = table === 'minute_parts' ? PARTS_PER_STEP : ROWS_PER_STEP
  const { rows } = await sql<Record<string, SqlValue>>`
    select ${keys} from ${sql.table(table)} where ${where}
    order by ${keys} limit 1 offset ${most - 1}`.execute(store.read)
  const [last] = rows
  // Compared in SQL, because only the database knows its collation.
  const upTo = last === undefined ? sql`` : sql`and (${keys}) <= (${sql.join(columns.map((column) => last[column]))})`
  await sql`delete from ${sql.table(table)} where ${where} ${upTo}`.execute(store.write)
  return last !== undefined
}

/** Rows of one grain that start in [from, before). */
export const bucketsIn = (grain: number, from: number, before: number): RawBuilder<SqlBool> =>
  sql`grain = ${grain} and bucket >= ${from} and bucket < ${before}`
