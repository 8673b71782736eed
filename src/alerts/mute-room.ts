import { clientOfChange, requireRoom } from '../management/index.ts'
import type { SilenceRow, Tables, Transaction } from '../store/index.ts'
import { type Scope, withinClients } from './scope.ts'

/** Silences, or maintenance, that a client may have at once. Every write of results, for any client, reads and evaluates all of them. */
export const MOST_OF_CLIENT = 500

/**
 * Checks that a client may have one more silence or maintenance.
 *
 * @throws AppError `conflict` when it already has the maximum
 */
export async function requireMuteRoom(
  trx: Transaction<Tables>,
  table: 'silences' | 'maintenance',
  scope: Scope & Partial<Pick<SilenceRow, 'incident_id'>>,
  now: number,
): Promise<void> {
  const clientId = await clientOfChange(trx, { entity: table, id: '', before: null, after: { ...scope } })
  // It is for a vendor's incident, which only a role for all clients may silence.
  if (clientId === null) return
  let query = trx
    .selectFrom(table)
    .select(({ fn }) => fn.countAll<number>().as('count'))
    // Weekly maintenance has no end.
    .where(({ eb, or }) => or([eb('ends_at', 'is', null), eb('ends_at', '>', now)]))
  for (const condition of withinClients([clientId], table === 'silences')) query = query.where(condition)
  const what = table === 'silences' ? 'silences' : 'maintenance windows'
  const text = `The client has ${MOST_OF_CLIENT} ${what}: delete one, or use one for a whole site or the client`
  await requireRoom(query, MOST_OF_CLIENT, text)
}
