import { type BatchOperation, chunksOf, type DeliveryRow, type Store } from '../../store/index.ts'
import { UNTRIED } from '../channel-health.ts'
import type { Consequences } from './consequences.ts'
import type { QueuedMessage } from './planning.ts'

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
      .where('state', '=', 'pending')
    return [{ kind: 'statement', query: query.compile() }]
  })
  await store.batch(operations)
}

export async function cancel(store: Store, ids: readonly string[], reason: string): Promise<void> {
  for (const chunk of chunksOf(ids)) {
    await store.write
      .updateTable('deliveries')
      .set({ state: 'cancelled', last_error: reason })
      .where('id', 'in', chunk)
      .where('state', '=', 'pending')
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
