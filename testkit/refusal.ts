import { sql } from 'kysely'
import type { Store, Tables } from '../src/store/index.ts'

/** Makes the database itself refuse to delete a site's rows: those of the table with this number in the column. */
export async function refuseDeletion(
  store: Store,
  table: keyof Tables,
  number: number,
  column = 'site_no',
): Promise<void> {
  const [on, condition] = [sql.table(table), sql`old.${sql.ref(column)} = ${sql.lit(number)}`]
  if (!store.isShared) {
    await sql`create trigger refusal before delete on ${on} when ${condition}
      begin select raise(abort, 'not to be deleted'); end`.execute(store.admin)
    return
  }
  await sql`create function refuse() returns trigger language plpgsql as
    $$ begin raise exception 'not to be deleted'; end $$`.execute(store.admin)
  await sql`create trigger refusal before delete on ${on}
    for each row when (${condition}) execute function refuse()`.execute(store.admin)
}
