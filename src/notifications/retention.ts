import type { SelectQueryBuilder } from 'kysely'
import { sql } from 'kysely'
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

/** Deletes the messages about alerts that are being deleted. */
export async function removeMessagesOfAlerts(
  trx: Transaction<Tables>,
  alertIds: SelectQueryBuilder<Tables, 'alerts', { id: string }>,
): Promise<void> {
  await trx.deleteFrom('deliveries').where('alert_id', 'in', alertIds).execute()
}

/** Deletes the messages about a client that is being deleted, and what is known of its channels. */
export async function removeMessagesOfClient(trx: Transaction<Tables>, clientId: string): Promise<void> {
  await trx.deleteFrom('deliveries').where('client_id', '=', clientId).execute()
  await trx
    .deleteFrom('channels')
    .where('channel', 'in', [`chat:${clientId}`, `email:${clientId}`])
    .execute()
}

/** For how long a message is tried. An older one helps no one: the dashboard shows what is wrong. */
const TRIED_FOR_MS = DAY

const REASON = sql.lit('given up after 24 hours')

/**
 * Gives up what has been tried for too long, on whatever channel, and returns how many. Does not ask whose channel it is: what
 * gets through at the same moment is marked as delivered after all.
 */
export async function giveUpOverdue({ read, write }: Store, now: number): Promise<number> {
  const isPending = sql<boolean>`state = 'pending'`
  const before = now - TRIED_FOR_MS
  // Nearly always there is none, and reading that costs no commit.
  const overdue = await read
    .selectFrom('deliveries')
    .select('id')
    .where(isPending)
    .where('not_before', '<=', before)
    .limit(1)
    .executeTakeFirst()
  if (overdue === undefined) return 0
  const { numUpdatedRows } = await write
    .updateTable('deliveries')
    .set({
      state: 'failed',
      last_error: sql<string>`${REASON} || coalesce(': ' || last_error, '')`,
    })
    .where(isPending)
    .where('not_before', '<=', before)
    .executeTakeFirstOrThrow()
  return Number(numUpdatedRows)
}
