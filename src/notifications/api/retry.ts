import { AppError, isoTime, notFound } from '../../lib/index.ts'
import { type Context, writeAudit } from '../../management/index.ts'
import type { DeliveryRow, Store, Tables, Transaction } from '../../store/index.ts'
import { deliveryRecord, sentRows } from './deliveries.ts'
import type { DeliveryRecord } from './schemas.ts'

/**
 * Has a message sent again as soon as may be, with all that went with it, and for another 24 hours if need be. A channel that
 * is off or waits after a failure is tried at once.
 *
 * @throws AppError `not_found`; `conflict` when it was delivered or cancelled
 */
export async function retryDelivery(ctx: Context, id: string): Promise<DeliveryRecord> {
  await ctx.store.write.transaction().execute(async (trx) => {
    const row = await lockDelivery(trx, id)
    if (row === undefined) throw notFound('Delivery')
    requireRetriable(row)
    const now = ctx.clock.now()
    await trx
      .updateTable('deliveries')
      .set({ state: 'pending', not_before: now })
      .where('channel', '=', row.channel)
      .where((eb) => (row.group_id === null ? eb('id', '=', id) : eb('group_id', '=', row.group_id)))
      .where('state', 'in', ['pending', 'failed'])
      .execute()
    await trx
      .updateTable('channels')
      .set({ off_since: null, next_attempt_at: now })
      .where('channel', '=', row.channel)
      .execute()
    const after = { channel: row.channel, state: 'pending', not_before: isoTime(now) }
    const before = { channel: row.channel, state: row.state, not_before: isoTime(row.not_before) }
    await writeAudit(trx, ctx, [{ entity: 'delivery', verb: 'retry', id, before, after }])
  })
  return readDelivery(ctx.store, id)
}

async function readDelivery(store: Pick<Store, 'read'>, id: string): Promise<DeliveryRecord> {
  const row = await sentRows(store).where('deliveries.id', '=', id).executeTakeFirst()
  if (row === undefined) throw notFound('Delivery')
  // Only who may change things gets here.
  return deliveryRecord(row, true)
}

/** Reads a message and keeps others from changing it until the transaction ends; undefined when there is none. */
async function lockDelivery(trx: Transaction<Tables>, id: string): Promise<DeliveryRow | undefined> {
  return trx
    .updateTable('deliveries')
    .set(({ ref }) => ({ kind: ref('kind') }))
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirst()
}

function requireRetriable({ state, last_error }: DeliveryRow): void {
  if (state === 'delivered') throw new AppError('conflict', 'The message was delivered: it is not sent again')
  if (state === 'cancelled') {
    throw new AppError(
      'conflict',
      `The message was cancelled (${last_error ?? 'no reason is known'}): it is not sent again`,
    )
  }
}
