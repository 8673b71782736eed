import { type AliasedRawBuilder, sql } from 'kysely'
import { COUNT_COLUMNS, GRAIN, minuteCounts, NAME_COLUMNS, type RollupTable, rollUp } from '../src/rollups/index.ts'
import { type Kysely, type Store, type Tables, totalOf } from '../src/store/index.ts'

/**
 * All rows of a table of counts, with what is still in parts of minutes among them: a row for each minute, container and name (for event ×
 * tag, each hour). To select from in place of the table.
 */
export function countsIn<T extends RollupTable>(db: Kysely<Tables>, table: T): AliasedRawBuilder<Tables[T], T> {
  const keys = ['site_no', 'grain', 'bucket', 'container_id', ...NAME_COLUMNS[table]].map((key) => sql.ref(key))
  const counts = COUNT_COLUMNS[table].map((count) => sql.ref(count))
  const totals = COUNT_COLUMNS[table].map((count) => sql`${totalOf(count)} as ${sql.ref(count)}`)
  const grain = table === 'event_tag_rollups' ? GRAIN.hour : GRAIN.minute
  const parts = minuteCounts(db, table, sql`1 = 1`)
  const names = NAME_COLUMNS[table].map((name) => sql.ref(name))
  return sql<Tables[T]>`(select ${sql.join([...keys, ...totals])} from (
      select ${sql.join([...keys, ...counts])} from ${sql.table(table)}
      union all
      select ${sql.join([sql`site_no, ${sql.lit(grain)}, bucket, container_id`, ...names, ...counts])} from ${parts} as parts
    ) as counted group by ${sql.join(keys)})`.as(table)
}

/** Derives all hour and day rows that are due. */
export async function rollUpAll(store: Store, now: number, options?: Parameters<typeof rollUp>[2]): Promise<void> {
  while ((await rollUp(store, now, options)) > 0);
}
