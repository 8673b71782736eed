import { sql } from 'kysely'
import type { Store, Tables } from '../src/store/index.ts'

/** Makes PostgreSQL record how many rows each statement inserts into or deletes from the table; returns a function that reads it. */
export async function noteStatementSizes(
  store: Store,
  table: keyof Tables,
  what: 'insert' | 'delete',
): Promise<() => Promise<number[]>> {
  const rows = sql.raw(what === 'insert' ? 'new' : 'old')
  await sql`create table statement_sizes (id bigint generated always as identity, size bigint)`.execute(store.admin)
  await sql`create function note_size() returns trigger language plpgsql as
    $$ begin insert into statement_sizes (size) select count(*) from touched; return null; end $$`.execute(store.admin)
  await sql`create trigger sizes after ${sql.raw(what)} on ${sql.table(table)}
    referencing ${rows} table as touched for each statement execute function note_size()`.execute(store.admin)
  return async () => {
    const { rows: sizes } = await sql<{ size: number }>`select size from statement_sizes order by id`.execute(
      store.admin,
    )
    return sizes.map(({ size }) => size)
  }
}
