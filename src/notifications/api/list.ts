import { DEFAULT_PAGE, idBefore, type Page, pageOf } from '../../http/index.ts'
import type { Store } from '../../store/index.ts'
import { deliveryRecord } from './record.ts'
import type { DeliveryQuery, DeliveryRecord } from './schemas.ts'

type Reader = Pick<Store, 'read'>

/** A single alert has few messages: some for each channel, and its reminders. */
const OF_ALERT_MAX = 1_000

/**
 * A page of the delivery log, newest first.
 *
 * @throws AppError `invalid_request` when `before` is neither an id nor a time
 */
export async function listDeliveries(
  store: Reader,
  { client_id, alert_id, state, before, limit = DEFAULT_PAGE }: DeliveryQuery,
  seesSecrets: boolean,
): Promise<Page<DeliveryRecord>> {
  let query = sentRows(store).limit(limit + 1)
  if (client_id !== undefined) query = query.where('deliveries.client_id', '=', client_id)
  if (alert_id !== undefined) query = query.where('deliveries.alert_id', '=', alert_id)
  if (state !== undefined) query = query.where('deliveries.state', '=', state)
  if (before !== undefined) query = query.where('deliveries.id', '<', idBefore(before, 'a message'))
  const rows = await query.execute()
  return pageOf(
    rows.map((row) => deliveryRecord(row, seesSecrets)),
    limit,
    ({ id }) => id,
  )
}

/** The messages about an alert, newest first. */
export async function deliveriesOf(store: Reader, alertId: string, seesSecrets: boolean): Promise<DeliveryRecord[]> {
  const rows = await sentRows(store).where('deliveries.alert_id', '=', alertId).limit(OF_ALERT_MAX).execute()
  return rows.map((row) => deliveryRecord(row, seesSecrets))
}

export const sentRows = ({ read }: Reader) =>
  read
    .selectFrom('deliveries')
    .leftJoin('channels', 'channels.channel', 'deliveries.channel')
    .selectAll('deliveries')
    .select('channels.address')
    .orderBy('deliveries.id', 'desc')
