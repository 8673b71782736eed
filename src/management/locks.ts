import type { ClientRow, SiteRow, Tables, Transaction } from '../store/index.ts'

// An update that changes nothing is the row lock that both engines understand: SQLite has no `select … for update`.

/**
 * Reads a client and keeps others from changing it until the transaction ends; undefined when there is none. The caller who adds
 * a site takes this lock too, so that no site is added to a client while it is being deleted.
 */
export async function lockClient(trx: Transaction<Tables>, id: string): Promise<ClientRow | undefined> {
  return trx
    .updateTable('clients')
    .set(({ ref }) => ({ name: ref('name') }))
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirst()
}

/** Reads a site and keeps others from changing it until the transaction ends; undefined when there is none. */
export async function lockSite(trx: Transaction<Tables>, id: string): Promise<SiteRow | undefined> {
  return trx
    .updateTable('sites')
    .set(({ ref }) => ({ name: ref('name') }))
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirst()
}
