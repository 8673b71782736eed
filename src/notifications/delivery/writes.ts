import type { ExpressionBuilder } from 'kysely'
import { liveNodes } from '../../cluster/index.ts'
import { type BatchOperation, chunksOf, type DeliveryRow, type Store, type Tables } from '../../store/index.ts'
import { UNTRIED } from '../channel.ts'
import type { Consequences, QueuedMessage } from './schedule.ts'

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

/** Writes an attempt's outcome, the message, its channel and what follows from it in one transaction. May be done twice. */
export async function writeOutcome(
  { store, nodeId }: { store: Store; nodeId: string },
  channel: string,
  rows: readonly Pick<DeliveryRow, 'id'>[],
  { deliveries, channel: changed, splitsGroup }: Consequences,
  alsoWritten: readonly BatchOperation[] = [],
): Promise<void> {
  const messages = store.write
    .updateTable('deliveries')
    .set(splitsGroup ? (eb) => ({ ...deliveries, group_id: eb.ref('id') }) : deliveries)
    .where(
      'id',
      'in',
      rows.map(({ id }) => id),
    )
    // Given up or cancelled during the attempt; but what got through got through.
    .$if(deliveries.state !== 'delivered', (update) => update.where('state', '=', 'pending'))
  const sender = store.write
    .updateTable('channels')
    .set(changed)
    .where('channel', '=', channel)
    .where('claimed_by', '=', nodeId)
  const own = [messages, sender].map((query): BatchOperation => ({ kind: 'statement', query: query.compile() }))
  await store.batch([...own, ...alsoWritten])
}

/** Adds what is left of a message, in the transaction of its outcome. */
export const writingRest = ({ write }: Store, rest: readonly DeliveryRow[]): BatchOperation[] =>
  chunksOf(rest).map((rows) => {
    const insert = write.insertInto('deliveries').values(rows)
    return { kind: 'statement', query: insert.onConflict((conflict) => conflict.column('id').doNothing()).compile() }
  })

/** Writes down what goes out together, before it does. From now on it is also given up together. */
export async function writeGroups(store: Store, groups: readonly (readonly QueuedMessage[])[]): Promise<void> {
  const operations = groups.flatMap((rows): BatchOperation[] => {
    const [first] = rows
    if (first === undefined) return []
    const query = store.write
      .updateTable('deliveries')
      .set({ group_id: first.id, not_before: first.notBefore })
      .where(
        'id',
        'in',
        rows.map(({ id }) => id),
      )
      // What was an opening when this was planned may have ended since.
      .where('kind', 'in', [...new Set(rows.map(({ kind }) => kind))])
      .where('state', '=', 'pending')
    return [{ kind: 'statement', query: query.compile() }]
  })
  await store.batch(operations)
}

/** @param of the kind that they have to be of still: what was over when this was planned may be bad again */
export async function cancel(
  store: Store,
  { ids, reason, of }: { ids: readonly string[]; reason: string; of?: string },
): Promise<void> {
  for (const chunk of chunksOf(ids)) {
    await store.write
      .updateTable('deliveries')
      .set({ state: 'cancelled', last_error: reason })
      .where('id', 'in', chunk)
      .where('state', '=', 'pending')
      .$if(of !== undefined, (query) => query.where('kind', '=', of ?? ''))
      .execute()
  }
}

export async function renew(store: Store, nodeId: string, channel: string, address: string): Promise<void> {
  await store.write
    .updateTable('channels')
    .set({ address, ...UNTRIED })
    .where('channel', '=', channel)
    .where('claimed_by', '=', nodeId)
    .execute()
}
