import { clientOfChange, requireRoom } from '../management/index.ts'
import type { SilenceRow, Tables, Transaction } from '../store/index.ts'
import { type Scope, withinClients } from './scope.ts'

/** Of a client, those that are not over. Each write of results, of whichever client, reads and works out all that there are. */
const MOST_OF_CLIENT = 500

/** @throws AppError `conflict` when the client has as many silences, or as much maintenance, as it may */
export async function requireMuteRoom(
  trx: Transaction<Tables>,
  table: 'silences' | 'maintenance',
  scope: Scope & Partial<Pick<SilenceRow, 'incident_id'>>,
  now: number,
): Promise<void> {
  const clientId = await clientOfChange(trx, { entity: table, id: '', before: null, after: { ...scope } })
  // Of a vendor's incident, which takes a role for all clients.
  if (clientId === null) return
  let query = trx
    .selectFrom(table)
    .select(({ fn }) => fn.countAll<number>().as('count'))
    // Weekly maintenance has no end.
    .where(({ eb, or }) => or([eb('ends_at', 'is', null), eb('ends_at', '>', now)]))
  for (const condition of withinClients([clientId], table === 'silences')) query = query.where(condition)
  const what = table === 'silences' ? 'silences' : 'planned times of maintenance'
  const text = `The client has ${MOST_OF_CLIENT} ${what}: delete one, or use one for a site or the client`
  await requireRoom(query, MOST_OF_CLIENT, text)
}
