import { type CompiledQuery, type RawBuilder, type SqlBool, sql } from 'kysely'
import { type Kysely, type Tables, totalOf } from '../store/index.ts'
import { COUNT_COLUMNS, NAME_COLUMNS, type RollupTable } from './columns.ts'

interface Inserted {
  table: RollupTable
  /** Of the new rows; the bucket as SQL over the source. */
  grain: number
  bucket: RawBuilder<unknown>
  /** Whether the bucket differs between rows of the source, so that sums are made for each. */
  isByBucket?: boolean
  /** What is summed by container and name, to follow `from`: rows with the table's names and counts. */
  source: RawBuilder<unknown>
  where: RawBuilder<SqlBool>
  /** Adds to rows that exist already; otherwise these fail it. */
  adds: boolean
}

/** A statement that sums counts by container and name into rows of one grain. */
export function insertCounts(db: Kysely<Tables>, inserted: Inserted): CompiledQuery {
  const { table, grain, bucket, isByBucket = false, source, where, adds } = inserted
  const names = ['container_id', ...NAME_COLUMNS[table]].map((name) => sql.ref(name))
  const counts = COUNT_COLUMNS[table]
  const refs = counts.map((count) => sql.ref(count))
  const keys = [sql.ref('site_no'), ...(isByBucket ? [bucket] : []), ...names]
  const added = counts.map(
    (count) => sql`${sql.ref(count)} = ${sql.ref(`${table}.${count}`)} + ${sql.ref(`excluded.${count}`)}`,
  )
  const conflict = sql` on conflict (site_no, grain, bucket, ${sql.join(names)}) do update set ${sql.join(added)}`
  return sql`insert into ${sql.table(table)} (site_no, grain, bucket, ${sql.join([...names, ...refs])})
    select site_no, ${grain}, ${bucket}, ${sql.join([...names, ...counts.map((count) => totalOf(count))])}
    from ${source} where ${where} group by ${sql.join(keys)}${adds ? conflict : sql``}`.compile(db)
}
