import { newOrderedId } from '../../lib/index.ts'
import type { DeliveryRow } from '../../store/index.ts'
import { GIVEN_UP, TRIED_FOR_MS } from '../given-up.ts'
import { isRest } from '../outbox-entry.ts'
import type { SendOrder, SendOutcome } from '../transport.ts'
import { type Attempt, type Consequences, consequencesOf } from './schedule.ts'

export const isRestRow = ({ alert_id, group_id }: Pick<DeliveryRow, 'alert_id' | 'group_id'>): boolean =>
  isRest({ alertId: alert_id, groupId: group_id })

/** Returns the addresses that the rest of an e-mail is for. */
export const addressesLeft = (row: DeliveryRow): Pick<SendOrder, 'only'> =>
  isRestRow(row) && row.receipt !== null ? { only: JSON.parse(row.receipt) as string[] } : {}

/** Returns the rests of messages that were sent as one. */
export function restOf(
  rows: readonly DeliveryRow[],
  { left = [], note = null }: { left?: readonly string[]; note?: string | null },
  notBefore: number,
  now: number,
): DeliveryRow[] {
  if (left.length === 0) return []
  return rows.map((row) => ({
    ...row,
    id: newOrderedId(now),
    alert_id: null,
    incident_id: null,
    group_id: rows[0]?.group_id ?? row.id,
    // A rest is tried for 24 hours from now on: the message itself may have been held back before.
    created_at: isRestRow(row) ? row.created_at : now,
    not_before: notBefore,
    state: 'pending',
    attempts: row.attempts + 1,
    last_attempt_at: now,
    last_error: note,
    delivered_at: null,
    receipt: JSON.stringify(left),
  }))
}

/** Returns what follows from an attempt. When one address refuses what the others got, that says nothing about the channel. */
export function consequencesFor(
  outcome: SendOutcome,
  attempt: Attempt & { rows: readonly DeliveryRow[] },
): Consequences {
  const { rows, now, paceMs, backoffMs } = attempt
  const isOfAddress = outcome.kind !== 'delivered' && (outcome.kind !== 'passing' || outcome.ofAddress === true)
  if (!isOfAddress || !rows.some(isRestRow)) return consequencesOf(outcome, attempt)
  const attempts = Math.max(0, ...rows.map((row) => row.attempts)) + 1
  const isTooOld = rows.every(({ created_at }) => created_at + TRIED_FOR_MS <= now)
  const after =
    outcome.kind !== 'passing'
      ? { state: 'failed', last_error: outcome.error }
      : isTooOld
        ? { state: 'failed', last_error: `${GIVEN_UP}: ${outcome.error}`, given_up_at: now }
        : { not_before: now + backoffMs(attempts, undefined), last_error: outcome.error }
  return {
    deliveries: { attempts, last_attempt_at: now, ...after },
    channel: { next_attempt_at: now + paceMs },
    splitsGroup: false,
    goesOn: true,
  }
}
