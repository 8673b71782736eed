import type { ExpressionBuilder } from 'kysely'
import { liveNodes } from '../../cluster/index.ts'
import { type BatchOperation, chunksOf, type DeliveryRow, type Store, type Tables } from '../../store/index.ts'
import { UNTRIED } from '../channel.ts'
import type { Consequences, QueuedMessage } from './schedule.ts'

/** The node that claims channels, and when. */
export interface Claimant {
  store: Store
  nodeId: string
  now: number
}

/**
 * Claims a channel, and returns whether it belongs to this node now. A claim lasts until it is released or the node is dead. A node
 * gets its own claims again, for example after a lost answer: it knows itself which channels it works on.
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

/** The condition for channels that the node may claim. */
export const isFree =
  ({ store, nodeId, now }: Claimant) =>
  (eb: ExpressionBuilder<Tables, 'channels'>) =>
    eb.or([
      eb('claimed_by', 'is', null),
      eb('claimed_by', '=', nodeId),
      eb('claimed_by', 'not in', liveNodes(store.write, now)),
    ])

/** Writes an attempt's outcome in one transaction: the message, its channel and `alsoWritten`. Repeating it changes nothing. */
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
    // It may have been given up or cancelled during the attempt; but if it got through, it is delivered.
    .$if(deliveries.state !== 'delivered', (update) => update.where('state', '=', 'pending'))
  const sender = store.write
    .updateTable('channels')
    .set(changed)
    .where('channel', '=', channel)
    .where('claimed_by', '=', nodeId)
  const own = [messages, sender].map((query): BatchOperation => ({ kind: 'statement', query: query.compile() }))
  // Alerts first, then messages and channels, as results do. Even an insert that skips a channel waits for one that is being changed.
  await store.batch([...alsoWritten, ...own])
}

/** Returns the inserts of a message's rests, for the transaction of its outcome. */
export const writingRest = ({ write }: Store, rest: readonly DeliveryRow[]): BatchOperation[] =>
  chunksOf(rest).map((rows) => {
    const insert = write.insertInto('deliveries').values(rows)
    return { kind: 'statement', query: insert.onConflict((conflict) => conflict.column('id').doNothing()).compile() }
  })

/** Settles what is sent together, before it is sent. From then on it is also given up together. */
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
      // What was an opening when this was planned may have become an end since.
      .where('kind', 'in', [...new Set(rows.map(({ kind }) => kind))])
      .where('state', '=', 'pending')
    return [{ kind: 'statement', query: query.compile() }]
  })
  await store.batch(operations)
}

/**
 * Cancels pending messages.
 *
 * @param of the kinds of which they must still be: what had ended when this was planned may be bad again
 */
export async function cancel(
  store: Store,
  { ids, reason, of }: { ids: readonly string[]; reason: string; of?: readonly string[] },
): Promise<void> {
  for (const chunk of chunksOf(ids)) {
    await store.write
      .updateTable('deliveries')
      .set({ state: 'cancelled', last_error: reason })
      .where('id', 'in', chunk)
      .where('state', '=', 'pending')
      .$if(of !== undefined, (query) => query.where('kind', 'in', of ?? []))
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
