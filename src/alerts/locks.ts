import { type AlertRow, chunksOf, type Store, type Tables, type Transaction } from '../store/index.ts'

/** The unresolved alerts of these probes, locked until the transaction ends. */
export async function lockUnresolved(
  trx: Transaction<Tables>,
  { isShared }: Pick<Store, 'isShared'>,
  probeIds: readonly string[],
): Promise<AlertRow[]> {
  const alerts: AlertRow[] = []
  for (const ids of chunksOf(probeIds)) {
    const rows = await trx
      .selectFrom('alerts')
      .selectAll()
      .where('probe_id', 'in', ids)
      .where('state', '<>', 'resolved')
      // In one order for all, so that two transactions never wait for each other.
      .orderBy('probe_id')
      .orderBy('subject')
      .$if(isShared, (query) => query.forUpdate())
      .execute()
    alerts.push(...rows)
  }
  return alerts
}

/** One alert, unresolved or not, locked until the transaction ends. */
export async function lockAlert(trx: Transaction<Tables>, id: string): Promise<AlertRow | undefined> {
  return trx
    .updateTable('alerts')
    .set(({ ref }) => ({ title: ref('title') }))
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirst()
}
