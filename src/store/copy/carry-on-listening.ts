import type { Kysely } from 'kysely'
import type { Tables } from '../tables.ts'

/**
 * Takes over the time since which no process accepts events: the time of the move is no silence of a site. What a service that once ran on the empty target
 * has left there is written over.
 */
export async function carryOnListening(source: Kysely<Tables>, target: Kysely<Tables>): Promise<void> {
  const row = await source.selectFrom('listening').selectAll().executeTakeFirst()
  if (row === undefined) return
  await target
    .insertInto('listening')
    .values(row)
    .onConflict((conflict) => conflict.column('id').doUpdateSet(row))
    .execute()
}
