import { chunksOf, type DeliveryRow, type Kysely, type Tables, type Transaction } from '../store/index.ts'
import type { AlertMessage, AlertMessageKind, MessageImpact, VendorMessage } from './message.ts'
import { BRIEF, isUnsent } from './outbox-entry.ts'

interface Notified {
  isOver: boolean
  at: number
}

/**
 * Returns, by alert, the channels that messages about it were written for, with when the last one was written (`at`, epoch ms; 0 if all
 * were cancelled) and whether it was the end. Alerts without messages, or whose messages are past their retention, are missing.
 */
export async function channelsNotified(
  trx: Transaction<Tables>,
  alertIds: readonly string[],
): Promise<Map<string, ReadonlyMap<string, Notified>>> {
  const notified = new Map<string, Map<string, Notified>>()
  for (const ids of chunksOf([...new Set(alertIds)])) {
    const rows = await trx
      .selectFrom('deliveries')
      .select(['alert_id', 'channel'])
      // A cancelled message notified no one.
      .select(({ fn }) => fn.max('id').filterWhere('state', '<>', 'cancelled').as('last'))
      .select(({ fn }) =>
        fn.max('id').filterWhere('state', '<>', 'cancelled').filterWhere('kind', '=', 'resolved').as('end'),
      )
      .select(({ fn }) => fn.max('created_at').filterWhere('state', '<>', 'cancelled').as('at'))
      .where('alert_id', 'in', ids)
      .groupBy(['alert_id', 'channel'])
      .execute()
    for (const { alert_id, channel, last, end, at } of rows) {
      if (alert_id !== null)
        notified.set(
          alert_id,
          (notified.get(alert_id) ?? new Map()).set(channel, { isOver: last === end, at: Number(at) }),
        )
    }
  }
  return notified
}

/** Messages that say who works on an incident, and not how bad it is. */
const OF_HANDLING = ['acknowledged', 'unacknowledged'] satisfies AlertMessageKind[]

/** Returns, by alert, the channels whose last message about it says that it is critical and was delivered or is settled. */
export async function channelsKnowingCritical(
  trx: Transaction<Tables>,
  alertIds: readonly string[],
): Promise<Map<string, ReadonlySet<string>>> {
  const knowing = new Map<string, Set<string>>()
  for (const ids of chunksOf([...new Set(alertIds)])) {
    const rows = await trx
      .selectFrom('deliveries')
      .select(['alert_id', 'channel', 'kind', 'state', 'attempts', 'group_id', 'message'])
      .where('alert_id', 'in', ids)
      .where('state', '<>', 'cancelled')
      .where('kind', 'not in', OF_HANDLING)
      .orderBy('id')
      .execute()
    for (const { alert_id, channel, kind, state, attempts, group_id, message } of rows) {
      if (alert_id === null) continue
      const channels = knowing.get(alert_id) ?? new Set()
      knowing.set(alert_id, channels)
      const { alert } = JSON.parse(message) as AlertMessage
      const isSaid = state === 'delivered' || (state === 'pending' && (attempts > 0 || group_id !== null))
      if (isSaid && kind !== 'resolved' && alert.severity === 'critical') channels.add(channel)
      else channels.delete(channel)
    }
  }
  return knowing
}

/**
 * Returns, by alert, the channels whose messages since it was last opened there, sent or waiting, say that it is a warning, and none
 * that it is critical. An escalation that failed counts as said, so that it is not written again and again.
 */
export async function channelsTakingForWarning(
  trx: Transaction<Tables>,
  alertIds: readonly string[],
): Promise<Map<string, ReadonlySet<string>>> {
  const behind = new Map<string, Set<string>>()
  for (const ids of chunksOf([...new Set(alertIds)])) {
    const rows = await trx
      .selectFrom('deliveries')
      .select(['alert_id', 'channel', 'kind', 'state', 'message'])
      .where('alert_id', 'in', ids)
      .where('state', '<>', 'cancelled')
      .where('kind', 'not in', [...OF_HANDLING, BRIEF.kind])
      .orderBy('id')
      .execute()
    for (const { alert_id, channel, kind, state, message } of rows) {
      if (alert_id === null || (state === 'failed' && kind !== 'escalated')) continue
      const channels = behind.get(alert_id) ?? new Set()
      behind.set(alert_id, channels)
      const { alert } = JSON.parse(message) as AlertMessage
      if (kind === 'resolved' || alert.severity === 'critical') channels.delete(channel)
      // Later messages than the opening may be about something milder, which does not take back how bad it is.
      else if (kind === 'opened') channels.add(channel)
    }
  }
  return behind
}

/** Returns, by alert, the last message since its last end that said with its words and figures that it is critical. */
export async function lastCritical(
  trx: Transaction<Tables>,
  alertIds: readonly string[],
): Promise<Map<string, AlertMessage>> {
  const last = new Map<string, AlertMessage>()
  for (const ids of chunksOf([...new Set(alertIds)])) {
    const rows = await trx
      .selectFrom('deliveries')
      .select('message')
      .where('alert_id', 'in', ids)
      .where('kind', 'in', ['opened', 'escalated', 'reminder', 'resolved'] satisfies AlertMessageKind[])
      .where('state', '<>', 'cancelled')
      .orderBy('id')
      .execute()
    for (const { message } of rows) {
      const said = JSON.parse(message) as AlertMessage
      if (said.kind === 'resolved') last.delete(said.alert.id)
      else if (said.alert.severity === 'critical') last.set(said.alert.id, said)
    }
  }
  return last
}

/**
 * Returns whether people know of what these messages of a channel are about, or are about to: one was delivered or is pending. After
 * the end of a vendor's incident only what follows counts, as that opens again under the same id.
 *
 * @param said in their order
 */
export function isKnownBy(said: readonly Pick<DeliveryRow, 'kind' | 'state'>[]): boolean {
  const end = said.findLastIndex(({ kind, state }) => kind === 'vendor_resolved' && state !== 'cancelled')
  return said.slice(end + 1).some(({ state }) => state === 'delivered' || state === 'pending')
}

/** Returns whether the operator was notified of a vendor's incident since its last end, or is about to be. */
export async function isVendorKnown(db: Kysely<Tables>, incidentId: string): Promise<boolean> {
  const said = db.selectFrom('deliveries').select(['kind', 'state']).where('incident_id', '=', incidentId)
  return isKnownBy(await said.orderBy('id').execute())
}

/** Withdraws the end of a vendor's incident that is back, and returns whether the operator then believes that it lasts. */
export async function withdrawVendorEnd(trx: Transaction<Tables>, incidentId: string): Promise<boolean> {
  const { numUpdatedRows } = await trx
    .updateTable('deliveries')
    .set({ state: 'cancelled', last_error: 'it is bad again' })
    .where('incident_id', '=', incidentId)
    .where('kind', '=', 'vendor_resolved')
    .where(isUnsent)
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0n && isVendorKnown(trx, incidentId)
}

/** Adds the impact to messages about a vendor's incident that were not sent yet. */
export async function amendVendorMessages(
  trx: Transaction<Tables>,
  incidentId: string,
  impact: MessageImpact | null,
): Promise<void> {
  const waiting = await trx
    .selectFrom('deliveries')
    .select(['id', 'message'])
    .where('incident_id', '=', incidentId)
    .where(isUnsent)
    .execute()
  for (const { id, message } of waiting) {
    const written = JSON.parse(message) as VendorMessage
    await trx
      .updateTable('deliveries')
      .set({ message: JSON.stringify({ ...written, incident: { ...written.incident, impact } }) })
      .where('id', '=', id)
      .where(isUnsent)
      .execute()
  }
}
