import type { ExpressionBuilder } from 'kysely'
import { liveNodes } from '../../cluster/index.ts'
import type { Store, Tables } from '../../store/index.ts'

/** Whose claims these are, and when they are made. */
export interface Claimant {
  store: Store
  nodeId: string
  now: number
}

/**
 * Claims a channel: whether it is this node's now. A claim is its node's until it is given back or the node is dead.
 * What this node holds already it gets again, as when an answer was lost: a node knows which channels it works on itself.
 */
export async function claimChannel({ store, nodeId, now }: Claimant, channel: string): Promise<boolean> {
  const { numUpdatedRows } = await store.write
    .updateTable('channels')
    .set({ claimed_by: nodeId, claimed_at: now })
    .where('channel', '=', channel)
    .where(isFree({ store, nodeId, now }))
    .executeTakeFirstOrThrow()
  return numUpdatedRows === 1n
}

export async function releaseChannel({ store, nodeId }: Omit<Claimant, 'now'>, channel: string): Promise<void> {
  await store.write
    .updateTable('channels')
    .set({ claimed_by: null, claimed_at: null })
    .where('channel', '=', channel)
    .where('claimed_by', '=', nodeId)
    .execute()
}

/** Whether the node may claim it. */
export const isFree =
  ({ store, nodeId, now }: Claimant) =>
  (eb: ExpressionBuilder<Tables, 'channels'>) =>
    eb.or([
      eb('claimed_by', 'is', null),
      eb('claimed_by', '=', nodeId),
      eb('claimed_by', 'not in', liveNodes(store.write, now)),
    ])
