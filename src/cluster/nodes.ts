import type { Kysely, Tables } from '../store/index.ts'
import { DEAD_AFTER_MS } from './live-nodes.ts'

/** A node as people see it. Times are epoch ms. */
export interface NodeInfo {
  id: string
  name: string
  role: string
  version: string
  startedAt: number
  lastSeenAt: number
  isAlive: boolean
  /** Names of the leases it has, sorted. */
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
