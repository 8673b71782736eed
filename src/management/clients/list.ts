import type { ClientRow, Store } from '../../store/index.ts'

/** All clients, or the active ones, oldest first. */
export async function listClients({ read }: Pick<Store, 'read'>, activeOnly: boolean): Promise<ClientRow[]> {
  let query = read.selectFrom('clients').selectAll().orderBy('created_at').orderBy('id')
  if (activeOnly) query = query.where('is_active', '=', 1)
  return query.execute()
}
