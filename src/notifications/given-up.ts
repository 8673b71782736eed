import { sql } from 'kysely'
import { DAY } from '../lib/index.ts'
import { chunksOf, type Store } from '../store/index.ts'

/** How long a message is tried, ms. An older one helps no one: the dashboard shows what is wrong. */
export const TRIED_FOR_MS = DAY

/** How the `last_error` of a message that was given up begins, for people; `given_up_at` says so to the program. */
export const GIVEN_UP = 'given up after 24 hours'

/**
 * Gives up messages that were tried for too long and returns their number. It ignores claims on channels, because a message that
 * gets through at the same moment is marked as delivered anyway.
 */
export async function giveUpOverdue({ read, write }: Store, now: number): Promise<number> {
  const isPending = sql<boolean>`state = 'pending'`
  const before = now - TRIED_FOR_MS
  // Nearly always there is none, and a read costs no commit.
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
      given_up_at: now,
      last_error: sql<string>`${sql.lit(GIVEN_UP)} || coalesce(': ' || last_error, '')`,
    })
    .where(isPending)
    .where('not_before', '<=', before)
    .executeTakeFirstOrThrow()
  return Number(numUpdatedRows)
}

/** Tries messages that were given up for another 24 hours; for those that no later message replaces. */
export async function tryAgain({ write }: Store, ids: readonly string[], now: number): Promise<void> {
  for (const chunk of chunksOf(ids)) {
    await write
      .updateTable('deliveries')
      .set({ state: 'pending', not_before: now, given_up_at: null })
      .where('id', 'in', chunk)
      .where('state', '=', 'failed')
      .execute()
  }
}
