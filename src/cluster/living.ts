import { SECOND } from '../lib/index.ts'
import type { Kysely, Tables } from '../store/index.ts'

export const HEARTBEAT_INTERVAL_MS = 5 * SECOND
/** A node that has not been seen for this long is dead, and its work is anybody's. */
export const DEAD_AFTER_MS = 30 * SECOND
/**
 * How long after its last heartbeat a node goes on with its work. What lies between this and `DEAD_AFTER_MS` is for
 * clocks that differ and for the step of work under way.
 */
export const SURE_FOR_MS = 20 * SECOND

/**
 * The ids of the nodes that live, as a subquery: work that a row says is a node's is free where
 * `claimed_by not in (livingNodes(…))`. SQL's `not in` is not true of null: a claim that can be null needs its own `is null`.
 *
 * @param db not `store.reports`, which may lag behind and would take the living for dead
 */
export const livingNodes = (db: Kysely<Tables>, now: number) =>
  db
    .selectFrom('nodes')
    .select('id')
    .where('seen_at', '>', now - DEAD_AFTER_MS)
