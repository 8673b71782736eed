import { isObject } from '../../lib/index.ts'
import type { CardOptions } from '../cards/card.ts'
import type { AlertMessageKind, Message, MessageGroup } from '../message.ts'
import type { SendOrder, SendOutcome } from '../transport.ts'

/** Everything particular to a service that takes webhooks. */
export interface ChatService {
  /** Its name in timelines: `Teams`. */
  name: string
  /** Its name at the beginning of errors: `Microsoft Teams`. */
  title: string
  /** Whether an http(s) address is one of its webhooks. `host` is in lower case and ends in no dot. */
  matches: (host: string, path: string) => boolean
  /** The least time between two messages of a channel, ms. */
  paceMs: number
  /** Whether it keeps incidents of its own: each incident is one there, and it gets nothing else. */
  isForIncidents?: boolean
  /** Actions of people on an incident that it is notified of too; none when missing. */
  follows?: readonly Handled[]
  /** Adds what the service wants in the address's path and query; when missing, the address is used as it is. */
  url?: (address: URL, message: Message | MessageGroup, options: BodyOptions) => URL
  /** The body of the request, to be sent as JSON. */
  body: (message: Message | MessageGroup, options: BodyOptions) => object
  /** Headers besides the content type. `secret` is the channel's own, or else that of the service. */
  headers?: (order: SendOrder, body: string, secret: string | null) => Record<string, string>
  /** For services whose messages can be changed later. */
  edits?: Edits
  /** For services where an incident that became worse has to be opened again beside the first. */
  beside?: Beside
  outcome: OutcomeRules
}

/** How earlier messages are changed instead of sending another one. */
export interface Edits {
  /** Messages that ask no one to act and take the place of earlier ones. */
  kinds: readonly AlertMessageKind[]
  /** Returns the service's id of the message that it has just accepted, from its answer; null when the answer has none. */
  receiptIn: (body: string) => string | null
  /** Returns the address of that message. */
  url: (address: URL, receipt: string) => URL
}

/** Further incidents at the service about one of ours. */
export interface Beside {
  /** Returns the key of the further incident that the message opens; null when it opens none. */
  keyOf: (message: Message | MessageGroup) => string | null
  /** Returns whether the message is about all that are open there. */
  isAboutAll: (message: Message | MessageGroup) => boolean
}

/** Messages that someone has acknowledged an incident or withdrawn that. */
export const HANDLED = ['acknowledged', 'unacknowledged'] as const satisfies readonly AlertMessageKind[]
type Handled = (typeof HANDLED)[number]

export interface BodyOptions extends CardOptions {
  idempotencyKey: string
  /** See `SendOrder`. */
  channel: string
  /** The channel's own key. */
  credential?: string | null
  /** The key of the further incident that the message is about, see `Beside`. */
  dedupKey?: string
}

/**
 * Returns the key by which a service that keeps incidents recognises messages about the same one: it is made from the alert that
 * announced it.
 */
export function dedupKeyOf(
  message: Message | MessageGroup,
  { idempotencyKey, dedupKey }: Pick<BodyOptions, 'idempotencyKey' | 'dedupKey'>,
): string {
  if (dedupKey !== undefined) return dedupKey
  if ('alert' in message) return `tagwarden:${message.alert.id}`
  return message.kind === 'test' ? `tagwarden:test:${message.client.id}` : `tagwarden:${idempotencyKey}`
}

/** Returns whether the message says that something has ended. */
export function isOver(message: Message | MessageGroup): boolean {
  if (message.kind === 'group') return message.of === 'resolved'
  return ['resolved', 'own_recovery', 'vendor_resolved'].includes(message.kind)
}

/** What is particular about a service's answers; anything else follows from their status, see `outcomeOf`. */
export interface OutcomeRules {
  /** The first that matches counts. */
  rules: readonly AnswerRule[]
  /** Whether errors repeat the reason in the answer. That of an unknown server may hold the address, which is a secret. */
  repeatsReason: boolean
  /** Reads how long to wait from its answer, ms, where it has its own way to say it. */
  retryAfterMs?: (body: string) => number | null
  /** The least wait after a 429, for a service that in practice asks for too little. */
  leastWaitMs?: number
}

/** An answer that means something else than its status, or more. */
export interface AnswerRule {
  status: number
  /** Matched against `reasonIn`, the host that it redirects to, and the whole body. */
  reason: RegExp
  kind: SendOutcome['kind']
  /** The text that people read about it; may be empty for `delivered`. */
  says: string
  retryAfterMs?: number
}

/** A service's answer to a message. Header names are in lower case; the body may be cut. */
export interface Answer {
  status: number
  headers: Readonly<Record<string, string>>
  body: string
}

export function parsedObject(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : null
  } catch {
    return null
  }
}
