import type { ExpressionBuilder, ExpressionWrapper, SqlBool } from 'kysely'
import { SECOND } from '../lib/index.ts'
import type { Tables } from '../store/index.ts'
import type { Channel } from './channel.ts'
import type { AlertMessageKind, Message } from './message.ts'

/**
 * How long a message about an opened or resolved alert waits for others that belong to it: people wait seconds longer, but an
 * outage of ten probes is one message instead of ten.
 */
export const GATHER_MS = 10 * SECOND

/** Kinds of messages that wait for others that belong to them. */
export const GATHERED_KINDS: readonly string[] = ['opened', 'resolved'] satisfies AlertMessageKind[]

/** Kinds of messages that say that something is over. */
export const ENDS: readonly string[] = ['resolved', 'vendor_resolved'] satisfies Message['kind'][]

/**
 * The condition for pending messages that no attempt was made to send. A message that is settled (see `writeGroups`) or on its way
 * stays as it is.
 */
export const isUnsent = ({
  and,
  eb,
}: ExpressionBuilder<Tables, 'deliveries'>): ExpressionWrapper<Tables, 'deliveries', SqlBool> =>
  and([eb('state', '=', 'pending'), eb('group_id', 'is', null), eb('attempts', '=', 0)])

/**
 * Returns whether a message is the rest of an e-mail: some of its addresses got it, and the server has put it off for the others.
 * It is then delivered, and its rest is a message for those others alone, under the same key but without an alert, so that it is
 * pending on its own and holds up nothing.
 */
export const isRest = ({ alertId, groupId }: { alertId: string | null; groupId: string | null }): boolean =>
  alertId === null && groupId !== null

export interface OutboxEntry {
  channel: Channel
  clientId: string | null
  alertId: string | null
  /** Of a vendor's incident, which has no alert of its own. */
  incidentId?: string
  message: Message
  /** Until when quiet hours hold it, epoch ms; null or missing when they do not. */
  heldUntil?: number | null
  /** How long it is held back, in which it may be withdrawn, ms; 0 by default. */
  holdMs?: number
  /** When set, it is merged with its opening if that was not sent yet. */
  merging?: Merging
}

export interface Merging {
  /** Whether it is dropped when it cannot be merged. */
  isOnly: boolean
  /** A warning that ends within this time is not sent at all, ms. */
  briefMs: number
  /** How long its end may be withdrawn, ms. */
  certainMs: number
  /** Whether the operator was notified instead: nothing makes the opening due earlier, and its end withdraws it however bad it was. */
  isHeld?: boolean
}

/** The kind of a warning that ended before it was due, until its end is certain, and the reason for then cancelling it. */
export const BRIEF = { kind: 'passed', reason: 'it was over before a notification was due' } as const

/** Returns when a message that is written now may be sent, epoch ms, unless others hold it up. */
export const notBefore = (kind: string, heldUntil: number | null, holdMs: number, now: number): number =>
  Math.max(heldUntil ?? now, now + holdMs, GATHERED_KINDS.includes(kind) ? now + GATHER_MS : now)
