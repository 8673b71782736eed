import { chunksOf, type Tables, type Transaction } from '../store/index.ts'
import type { MessageImpact, VendorMessage } from './message.ts'

/**
 * The channels that messages about each alert were written for, with whether the last of these said that it is over; an alert without any, or
 * whose are past their retention, is missing.
 */
export async function channelsTold(
  trx: Transaction<Tables>,
  alertIds: readonly string[],
): Promise<Map<string, ReadonlyMap<string, { isOver: boolean }>>> {
  const told = new Map<string, Map<string, { isOver: boolean }>>()
  for (const ids of chunksOf([...new Set(alertIds)])) {
    const rows = await trx
      .selectFrom('deliveries')
      .select(['alert_id', 'channel'])
      // What was taken back said nothing.
      .select(({ fn }) => fn.max('id').filterWhere('state', '<>', 'cancelled').as('last'))
      .select(({ fn }) =>
        fn.max('id').filterWhere('state', '<>', 'cancelled').filterWhere('kind', '=', 'resolved').as('end'),
      )
      .where('alert_id', 'in', ids)
      .groupBy(['alert_id', 'channel'])
      .execute()
    for (const { alert_id, channel, last, end } of rows) {
      if (alert_id !== null)
        told.set(alert_id, (told.get(alert_id) ?? new Map()).set(channel, { isOver: last === end }))
    }
  }
  return told
}

/** Adds to messages about a vendor's incident what it costs, as long as they have not been sent. */
export async function amendVendorMessages(
  trx: Transaction<Tables>,
  incidentId: string,
  impact: MessageImpact | null,
): Promise<void> {
  const waiting = await trx
    .selectFrom('deliveries')
    .select(['id', 'message'])
    .where('channel', '=', 'global')
    .where('kind', 'in', ['vendor_opened', 'vendor_resolved'] satisfies VendorMessage['kind'][])
    .where('state', '=', 'pending')
    .where('attempts', '=', 0)
    .execute()
  for (const { id, message } of waiting) {
    const written = JSON.parse(message) as VendorMessage
    if (written.incident.id !== incidentId) continue
    await trx
      .updateTable('deliveries')
      .set({ message: JSON.stringify({ ...written, incident: { ...written.incident, impact } }) })
      .where('id', '=', id)
      .where('state', '=', 'pending')
      .where('attempts', '=', 0)
      .execute()
  }
}
