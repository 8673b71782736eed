import { sql } from 'kysely'
import { DAY } from '../lib/index.ts'
import { chunksOf, type Store } from '../store/index.ts'

/** For how long a message is tried. An older one helps no one: the dashboard shows what is wrong. */
export const TRIED_FOR_MS = DAY

/** How the last error of what was given up begins. */
export const GIVEN_UP = 'given up after 24 hours'

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
      last_error: sql<string>`${sql.lit(GIVEN_UP)} || coalesce(': ' || last_error, '')`,
    })
    .where(isPending)
    .where('not_before', '<=', before)
    .executeTakeFirstOrThrow()
  return Number(numUpdatedRows)
}

/** Tries for another 24 hours what was given up, and what no other message will say again. */
export async function tryAgain({ write }: Store, ids: readonly string[], now: number): Promise<void> {
  for (const chunk of chunksOf(ids)) {
    await write
      .updateTable('deliveries')
      .set({ state: 'pending', not_before: now })
      .where('id', 'in', chunk)
      .where('state', '=', 'failed')
      .execute()
  }
}
