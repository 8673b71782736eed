import { SECOND } from '../lib/index.ts'
import type { Kysely, Tables } from '../store/index.ts'

export const HEARTBEAT_INTERVAL_MS = 5 * SECOND
/** A node without a heartbeat for this long is dead, and any other may take over its work. */
export const DEAD_AFTER_MS = 30 * SECOND
/**
 * How long after its last heartbeat a node continues its work. The time from then until `DEAD_AFTER_MS` allows for clocks that
 * differ and for the current step of work.
 */
export const SURE_FOR_MS = 20 * SECOND

/**
 * The ids of the live nodes, as a subquery: work claimed in a row is free where `claimed_by not in (liveNodes(…))`. SQL's `not
 * in` is never true for null: a claim that can be null needs its own `is null`.
 *
 * @param db not `store.reports`, which may lag behind and would take live nodes for dead
 */
export const liveNodes = (db: Kysely<Tables>, now: number) =>
  db
    .selectFrom('nodes')
    .select('id')
    .where('seen_at', '>', now - DEAD_AFTER_MS)

/** A node for people. Times are epoch ms. */
export interface NodeInfo {
  id: string
  name: string
  role: string
  version: string
  startedAt: number
  lastSeenAt: number
  isAlive: boolean
  /** Names of its leases, sorted. */
  leases: string[]
}

/** The live nodes and those that died recently, oldest first. */
export async function listNodes(db: Kysely<Tables>, now: number): Promise<NodeInfo[]> {
  const nodes = await db.selectFrom('nodes').selectAll().orderBy('started_at').orderBy('id').execute()
  const leases = await db.selectFrom('leases').select(['name', 'node_id']).orderBy('name').execute()
  return nodes.map((node) => ({
    id: node.id,
    name: node.name,
    role: node.role,
    version: node.version,
    startedAt: node.started_at,
    lastSeenAt: node.seen_at,
    isAlive: node.seen_at > now - DEAD_AFTER_MS,
    leases: leases.filter((lease) => lease.node_id === node.id).map(({ name }) => name),
  }))
}
