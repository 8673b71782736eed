import type { ExpressionBuilder, ExpressionWrapper, SqlBool } from 'kysely'
import { SECOND } from '../lib/index.ts'
import type { DeliveryRow, Tables } from '../store/index.ts'
import type { Channel } from './channel.ts'
import type { AlertMessageKind, Message } from './message.ts'

/**
 * How long a message about an opened or resolved alert waits for others that belong to it. A person waits seconds longer;
 * an outage of ten probes is one message instead of ten.
 */
export const GATHER_MS = 10 * SECOND

/** What waits for others that belong to it. */
export const GATHERED_KINDS: readonly string[] = ['opened', 'resolved'] satisfies AlertMessageKind[]

/** A message that waits, and that no attempt has been made to send. What is settled, or on its way, stays as it is. */
export const isUnsent = ({
  and,
  eb,
}: ExpressionBuilder<Tables, 'deliveries'>): ExpressionWrapper<Tables, 'deliveries', SqlBool> =>
  and([eb('state', '=', 'pending'), eb('group_id', 'is', null), eb('attempts', '=', 0)])

/**
 * An e-mail that some of its addresses have, and that the server has put off for the others, is delivered. What is left of it is a message of its own,
 * for those others alone: under the same key, and of no alert, so that it waits by itself and holds up nothing.
 */
export const isRest = ({ alertId, groupId }: { alertId: string | null; groupId: string | null }): boolean =>
  alertId === null && groupId !== null

export interface OutboxEntry {
  channel: Channel
  clientId: string | null
  alertId: string | null
  message: Message
  /** Until when it waits, in the client's quiet hours; null, or missing: for nothing. */
  heldUntil?: number | null
  /** Kept back so long, in which it may be withdrawn; 0 without it. */
  holdMs?: number
  /** With it, it becomes one message with the opening where that has not been sent. */
  merging?: Merging
}

export interface Merging {
  /** Whether it goes out only so. */
  isOnly: boolean
  /** A warning that is over so soon is not sent at all, ms. */
  briefMs: number
  /** How long its end may be taken back, ms. */
  certainMs: number
}

/** What becomes of the message about a warning that was over before it was due: it is not sent, once that is certain. */
export const BRIEF = { kind: 'passed', reason: 'it was over before a notification was due' } as const

/** Whether it is that message, or one that it had cancelled. */
export const wasBrief = ({ kind, state, last_error }: Pick<DeliveryRow, 'kind' | 'state' | 'last_error'>): boolean =>
  kind === BRIEF.kind || (state === 'cancelled' && last_error === BRIEF.reason)

/** Since when a message may be sent that is written now, unless others hold it up. */
export const notBefore = (kind: string, heldUntil: number | null, holdMs: number, now: number): number =>
  Math.max(heldUntil ?? now, now + holdMs, GATHERED_KINDS.includes(kind) ? now + GATHER_MS : now)
