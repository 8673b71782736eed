import { isObject } from '../../lib/index.ts'
import type { CardOptions } from '../cards/card.ts'
import type { AlertMessageKind, Message, MessageGroup } from '../message.ts'
import type { SendOrder, SendOutcome } from '../transport.ts'

/** A service that takes webhooks: all that is particular to it. */
export interface ChatService {
  /** What a message went over, in a timeline: `Teams`. */
  name: string
  /** How errors call it, at their beginning: `Microsoft Teams`. */
  title: string
  /** Whether an http(s) address is one of its webhooks. `host` is in lower case and ends in no dot. */
  matches: (host: string, path: string) => boolean
  /** The least time between two messages of a channel, ms. */
  paceMs: number
  /** True of what keeps incidents of its own: each of ours is one there, and it gets nothing else. */
  isForIncidents?: boolean
  /** What people do to an incident that it is notified of, too; nothing where that is missing. */
  follows?: readonly Handled[]
  /** The address with what the service wants in its path and query; the address as it is where that is missing. */
  url?: (address: URL, message: Message | MessageGroup, options: BodyOptions) => URL
  /** The body of the request, to be sent as JSON. */
  body: (message: Message | MessageGroup, options: BodyOptions) => object
  /** What goes with the body besides its type. `secret` is the channel's own, or else that of the service. */
  headers?: (order: SendOrder, body: string, secret: string | null) => Record<string, string>
  /** Of those whose messages can be changed later. */
  edits?: Edits
  /** Of those where what has become worse has to be opened beside what is there. */
  beside?: Beside
  outcome: OutcomeRules
}

/** How what was said before is changed, instead of saying more. */
export interface Edits {
  /** Messages that bring no one anything to do, and stand in the place of earlier ones. */
  kinds: readonly AlertMessageKind[]
  /** By which the service knows the message that it has just taken; null where its answer does not say. */
  receiptIn: (body: string) => string | null
  /** The address of that message. */
  url: (address: URL, receipt: string) => URL
}

/** What is open there beside the first, about the same incident. */
export interface Beside {
  /** By which what the message opens is known there; null where it opens nothing beside the first. */
  keyOf: (message: Message | MessageGroup) => string | null
  /** Whether the message is about all that is open there. */
  isAboutAll: (message: Message | MessageGroup) => boolean
}

/** Messages that someone takes care of an incident, or no longer does. */
export const HANDLED = ['acknowledged', 'unacknowledged'] as const satisfies readonly AlertMessageKind[]
type Handled = (typeof HANDLED)[number]

export interface BodyOptions extends CardOptions {
  idempotencyKey: string
  /** The channel's own key. */
  credential?: string | null
  /** Of what is open beside the first. */
  dedupKey?: string
}

/** By which what keeps incidents knows that two messages are about one: that of the alert that opened it. */
export function dedupKeyOf(
  message: Message | MessageGroup,
  { idempotencyKey, dedupKey }: Pick<BodyOptions, 'idempotencyKey' | 'dedupKey'>,
): string {
  if (dedupKey !== undefined) return dedupKey
  if ('alert' in message) return `tagwarden:${message.alert.id}`
  return message.kind === 'test' ? `tagwarden:test:${message.client.id}` : `tagwarden:${idempotencyKey}`
}

/** Whether it says that something has ended. */
export function isOver(message: Message | MessageGroup): boolean {
  if (message.kind === 'group') return message.of === 'resolved'
  return ['resolved', 'own_recovery', 'vendor_resolved'].includes(message.kind)
}

/** What is particular about a service's answers; the rest follows from their status: see `outcomeOf`. */
export interface OutcomeRules {
  /** The first that matches counts. */
  rules: readonly AnswerRule[]
  /** Whether errors repeat the reason it gives. An unknown server's may hold the address, which is a secret. */
  repeatsReason: boolean
  /** Its own way to say how long to wait, ms. */
  retryAfterMs?: (body: string) => number | null
  /** The least to wait after a 429, where experience is that what the service asks for is too little. */
  leastWaitMs?: number
}

/** An answer that means something else than its status, or more. */
export interface AnswerRule {
  status: number
  /** Of `reasonIn`, of the host it redirects to, or of the body as it is. */
  reason: RegExp
  kind: SendOutcome['kind']
  /** What people read about it; may be empty for what was delivered. */
  says: string
  retryAfterMs?: number
}

/** What a service answered a message with. Header names in lower case; the body may be cut. */
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
