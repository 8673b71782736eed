import { isoTime, isoTimeOrNull } from '../../lib/index.ts'
import type { DeliveryRow } from '../../store/index.ts'
import { keyOf, storedKind } from '../channel.ts'
import type { Message } from '../message.ts'
import { DELIVERY_STATES, type DeliveryRecord } from './schemas.ts'

/** A message and the address its channel had last; null when nothing is known of the channel. */
export type SentRow = DeliveryRow & { address: string | null }

/** A message as the interface shows it. */
export function deliveryRecord(row: SentRow, seesSecrets: boolean): DeliveryRecord {
  const isDelivered = row.state === 'delivered'
  return {
    id: row.id,
    channel: row.channel,
    service: row.address === null ? null : storedKind(keyOf(row.channel), row.address),
    client_id: row.client_id,
    alert_id: row.alert_id,
    kind: row.kind,
    title: titleOf(JSON.parse(row.message) as Message),
    state: stateOf(row.state),
    created_at: isoTime(row.created_at),
    group_id: row.group_id,
    attempts: row.attempts,
    last_attempt_at: isoTimeOrNull(row.last_attempt_at),
    last_error: isDelivered ? null : shownError(row.channel, row.last_error, seesSecrets),
    note: isDelivered ? row.last_error : null,
    delivered_at: isoTimeOrNull(row.delivered_at),
  }
}

/** A mail server may name the address in what it says. */
export const shownError = (channel: string, error: string | null, seesSecrets: boolean): string | null =>
  seesSecrets || !channel.startsWith('email:') ? error : null

function titleOf(message: Message): string {
  switch (message.kind) {
    case 'test':
      return 'Test message'
    case 'digest':
      return `${message.period === 'daily' ? 'Daily' : 'Weekly'} digest of ${message.client.name}`
    case 'quota':
      return message.step === 100 ? 'Quota used up' : 'Quota nearly used up'
    case 'own_failure':
    case 'own_recovery':
      return message.message
    default:
      return message.alert.title
  }
}

/** @throws Error when the row was not written by this program: the store holds no other state. */
function stateOf(text: string): DeliveryRecord['state'] {
  const known = DELIVERY_STATES.find((state) => state === text)
  if (known === undefined) throw new Error(`the store holds an unknown state of a message: ${text}`)
  return known
}
