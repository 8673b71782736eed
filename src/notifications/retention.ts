import { DAY, firstIdAt } from '../lib/index.ts'
import type { Store, Tables, Transaction } from '../store/index.ts'

/** Rows deleted in one transaction: a few milliseconds of the writer's time. */
const ROWS_PER_STEP = 2_000

/**
 * Deletes messages past their retention, in small steps. Any node may do so. What is still to be sent stays: it was asked for
 * by hand.
 *
 * @param days for which messages are kept
 */
export async function clearDeliveries(store: Store, days: number, now: number, mayGoOn: () => boolean): Promise<void> {
  const old = firstIdAt(Math.max(0, now - days * DAY))
  for (let more = true; more && mayGoOn(); ) more = await clearBelow(store, old)
}

/** Deletes the oldest below an id, and says whether there are more. */
async function clearBelow({ read, write }: Store, id: string): Promise<boolean> {
  const rows = await read
    .selectFrom('deliveries')
    .select('id')
    .where('id', '<', id)
    .where('state', '<>', 'pending')
    .orderBy('id')
    .limit(ROWS_PER_STEP)
    .execute()
  const last = rows.at(-1)
  if (last === undefined) return false
  await write.deleteFrom('deliveries').where('id', '<=', last.id).where('state', '<>', 'pending').execute()
  return rows.length === ROWS_PER_STEP
}

/** Deletes the messages about a client that is being deleted, and what is known of its channels. */
export async function removeMessagesOfClient(trx: Transaction<Tables>, clientId: string): Promise<void> {
  await trx.deleteFrom('deliveries').where('client_id', '=', clientId).execute()
  await trx
    .deleteFrom('channels')
    .where('channel', 'in', [`chat:${clientId}`, `email:${clientId}`])
    .execute()
}
