import { type Kysely, sql } from 'kysely'
import type { Tables } from '../tables.ts'
import type { UpsertSpec } from '../upsert.ts'

/**
 * Lets the target count on where the source has stopped: also behind rows that are deleted, because the number of a deleted
 * site must never be given out again. SQLite remembers it in `sqlite_sequence`.
 */
export async function carryOnCounting(
  source: Kysely<Tables>,
  target: Kysely<Tables>,
  tables: readonly UpsertSpec[],
): Promise<void> {
  const { rows } = await sql<{ name: string; highest: number }>`
    select name, seq as highest from sqlite_sequence where seq > 0`.execute(source)
  for (const { name, highest } of rows) {
    const [key] = tables.find(({ table }) => table === name)?.keys ?? []
    if (key === undefined) continue
    const highestCopied = sql`(select max(${sql.ref(key)}) from ${sql.table(name)})`
    await sql`select setval(pg_get_serial_sequence(${name}, ${key}),
      greatest(cast(${highest} as bigint), ${highestCopied}))`.execute(target)
  }
}
