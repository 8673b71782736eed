import { type Static, Type } from 'typebox'
import { DEAD_AFTER_MS, listNodes } from '../cluster/index.ts'
import { errorResponses, type HttpApp, IsoTime, Uuid } from '../http/index.ts'
import { type Clock, isoTime, SECOND } from '../lib/index.ts'
import type { Store } from '../store/index.ts'

export interface NodesOptions {
  store: Store
  clock: Clock
}

const Node = Type.Object({
  id: Uuid,
  name: Type.String({ description: 'Host name and process id' }),
  role: Type.String({ description: '`all`, `ingest` or `worker`' }),
  version: Type.String(),
  started_at: IsoTime,
  last_seen_at: IsoTime,
  is_alive: Type.Boolean({ description: `Seen within the last ${DEAD_AFTER_MS / SECOND} seconds` }),
  leases: Type.Array(Type.String(), { description: 'What one node at a time does, and this one has taken on' }),
})
export type NodeRecord = Static<typeof Node>

/** `/api/nodes`: which processes run on the database. */
export function nodeRoutes(app: HttpApp, { store, clock }: NodesOptions): void {
  app.get(
    '/api/nodes',
    {
      config: { scope: 'service' },
      schema: {
        tags: ['Service'],
        summary: 'List the nodes',
        description: 'The processes on this database, the oldest first, and those that died within the last day.',
        response: { 200: Type.Array(Node), ...errorResponses() },
      },
    },
    async () => {
      const nodes = await listNodes(store.read, clock.now())
      return nodes.map((node) => ({
        id: node.id,
        name: node.name,
        role: node.role,
        version: node.version,
        started_at: isoTime(node.startedAt),
        last_seen_at: isoTime(node.lastSeenAt),
        is_alive: node.isAlive,
        leases: node.leases,
      }))
    },
  )
}
