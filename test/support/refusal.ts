import { sql } from 'kysely'
import type { Store, Tables } from '../../src/store/index.ts'

/** From now on the database itself refuses to delete the site's rows from the table. */
export async function refuseDeletion(store: Store, table: keyof Tables, siteNo: number): Promise<void> {
  const [on, site] = [sql.table(table), sql.lit(siteNo)]
  if (!store.isShared) {
    await sql`create trigger refusal before delete on ${on} when old.site_no = ${site}
      begin select raise(abort, 'not to be deleted'); end`.execute(store.admin)
    return
  }
  await sql`create function refuse() returns trigger language plpgsql as
    $$ begin raise exception 'not to be deleted'; end $$`.execute(store.admin)
  await sql`create trigger refusal before delete on ${on}
    for each row when (old.site_no = ${site}) execute function refuse()`.execute(store.admin)
}
