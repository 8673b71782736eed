import { type CompiledQuery, type RawBuilder, type SqlBool, sql } from 'kysely'
import { type Store, totalOf } from '../store/index.ts'
import { COUNT_COLUMNS, NAME_COLUMNS, type Slice } from './slices.ts'

/** Rows that one transaction adds up, while all commits wait: some 25 ms. */
export const ROWS_ADDED_AT_ONCE = 5_000

/**
 * Adds the rows of one grain that meet the condition to those of a few buckets, and deletes the others. Both statements have to see the same rows: run
 * them by `whileClean`.
 *
 * @param rows the rows of one site and grain
 * @param target the bucket that a row goes to, as SQL; rows that are there stay
 */
export function addUp(
  store: Store,
  { table, within }: Slice,
  rows: RawBuilder<SqlBool>,
  target: RawBuilder<number>,
): CompiledQuery[] {
  const names = ['container_id', ...NAME_COLUMNS[table]].map((name) => sql.ref(name))
  const counts = COUNT_COLUMNS[table].map((count) => sql.ref(count))
  const columns = sql.join([...['site_no', 'grain', 'bucket'].map((column) => sql.ref(column)), ...names, ...counts])
  const keys = sql.join([sql`site_no`, sql`grain`, target, ...names])
  const where = sql`${rows} and ${within}`
  return [
    sql`insert into ${sql.table(table)} (${columns})
      select ${keys}, ${sql.join(COUNT_COLUMNS[table].map(totalOf))} from ${sql.table(table)}
      where ${where} group by ${keys} having count(*) > 1 or min(bucket) <> ${target}
      on conflict (site_no, grain, bucket, ${sql.join(names)})
      do update set ${sql.join(counts.map((count) => sql`${count} = excluded.${count}`))}`.compile(store.write),
    sql`delete from ${sql.table(table)} where ${where} and bucket <> ${target}`.compile(store.write),
  ]
}
