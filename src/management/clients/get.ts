import { notFound } from '../../lib/index.ts'
import type { ClientRow, Store } from '../../store/index.ts'

/** @throws AppError `not_found`. */
export async function getClient({ read }: Pick<Store, 'read'>, id: string): Promise<ClientRow> {
  const row = await read.selectFrom('clients').selectAll().where('id', '=', id).executeTakeFirst()
  if (row === undefined) throw notFound('Client')
  return row
}
