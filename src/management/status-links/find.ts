import { notFound } from '../../lib/index.ts'
import type { ClientRow, Kysely, StatusLinkRow, Tables } from '../../store/index.ts'

/** The client's link, or undefined. */
export async function findStatusLink(db: Kysely<Tables>, clientId: string): Promise<StatusLinkRow | undefined> {
  return db.selectFrom('status_links').selectAll().where('client_id', '=', clientId).executeTakeFirst()
}

/**
 * The same of a client that has to be there.
 *
 * @throws AppError `not_found`.
 */
export async function readStatusLink(db: Kysely<Tables>, clientId: string): Promise<StatusLinkRow | undefined> {
  const client = await db.selectFrom('clients').select('id').where('id', '=', clientId).executeTakeFirst()
  if (client === undefined) throw notFound('Client')
  return findStatusLink(db, clientId)
}

/**
 * The active client whose status page the token opens.
 *
 * @throws AppError `not_found`: never given out, revoked, or the client is switched off; the answer does not say which.
 */
export async function clientOfStatusLink(db: Kysely<Tables>, token: string): Promise<Pick<ClientRow, 'id' | 'name'>> {
  const client = await db
    .selectFrom('status_links')
    .innerJoin('clients', 'clients.id', 'status_links.client_id')
    .select(['clients.id', 'clients.name'])
    .where('status_links.token', '=', token)
    .where('clients.is_active', '=', 1)
    .executeTakeFirst()
  if (client === undefined) throw notFound('Status page')
  return client
}
