import type { Message, MessageGroup } from './message.ts'

/**
 * Sends messages over one kind of channel. `createChatTransport` (chat services and webhooks) and `createEmailTransport` (SMTP)
 * make the two there are.
 */
export interface Transport {
  /**
   * Makes one attempt. Failures of the other system are outcomes, never thrown.
   *
   * @param signal ends the attempt at its time limit or when the service stops: a passing failure
   */
  send(order: SendOrder, signal: AbortSignal): Promise<SendOutcome>
}

export interface SendOrder {
  /** A webhook URL or an e-mail address, as it is now. */
  address: string
  /** Identifies the channel, as in the log of deliveries: a webhook's receiver can tell whether the message is meant for it. */
  channel: string
  message: Message | MessageGroup
  /** The same whenever the message is sent again, so that the receiver can recognise a repetition. */
  idempotencyKey: string
  /** `PUBLIC_URL` without a trailing slash, for links. */
  publicUrl: string
  /** Now, epoch ms. */
  at: number
  /** Receipts of earlier messages about the same alert on this channel, the newest first. */
  earlier?: readonly string[]
  /** For the rest of an e-mail: the addresses that do not have it yet. */
  only?: readonly string[]
}

/**
 * How an attempt ended; `error` is a sentence for people that holds no secret.
 * - `delivered`: the other end accepted it. `note` says what people should know all the same; `receipt` identifies the message at
 *   the service, where it can be changed later; `left` are the addresses that the server has put off
 * - `passing`: it may succeed later. The channel waits and the message with it, unless only one address failed (`ofAddress`) and
 *   others have the message
 * - `channel_broken`: nothing will get through until the address is edited
 * - `message_refused`: this message will never get through, others may
 */
export type SendOutcome =
  | { kind: 'delivered'; note?: string; receipt?: string; left?: readonly string[] }
  | { kind: 'passing'; error: string; retryAfterMs?: number; ofAddress?: true }
  | { kind: 'channel_broken'; error: string }
  | { kind: 'message_refused'; error: string }

/** The transport of each kind of channel; that of e-mail is null when e-mail is not set up. */
export interface Transports {
  /** For chat services and other webhooks. */
  chat: Transport
  email: Transport | null
}
