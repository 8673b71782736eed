import type { Message, MessageGroup } from './message.ts'

/**
 * Carries a message to people over one kind of channel. `createChatTransport` (chat services and webhooks) and
 * `createEmailTransport` (SMTP) make the two there are.
 */
export interface Transport {
  /**
   * Makes one attempt. Failures are outcomes too: nothing is thrown for what another system does.
   *
   * @param signal ends the attempt, by its time limit or because the service stops: a passing failure
   */
  send(order: SendOrder, signal: AbortSignal): Promise<SendOutcome>
}

export interface SendOrder {
  /** A webhook URL or an e-mail address, as it is now. */
  address: string
  message: Message | MessageGroup
  /** The same whenever the same message is sent again: the receiver may recognise a repetition by it. */
  idempotencyKey: string
  /** `PUBLIC_URL` without a slash at its end, for links. */
  publicUrl: string
  /** Now, epoch ms. */
  at: number
  /** Of what was said about it there before, by which the service knows it; the newest first. */
  earlier?: readonly string[]
  /** Of an e-mail that the other addresses have: those that it is for. */
  only?: readonly string[]
}

/**
 * How an attempt ended; `error` is a sentence for people that names no secret.
 * - `delivered`: the other end took it; `note` says what people should know all the same, `receipt` is by which the service knows it, where it
 *   may be changed later; `left` are the addresses that are yet to get it, as the server has put them off
 * - `passing`: it may go well later: the channel waits, and the message with it, unless it is a matter of the address (`ofAddress`) and others
 *   have the message
 * - `channel_broken`: nothing will go through until the address is edited
 * - `message_refused`: this message will never go through, others may
 */
export type SendOutcome =
  | { kind: 'delivered'; note?: string; receipt?: string; left?: readonly string[] }
  | { kind: 'passing'; error: string; retryAfterMs?: number; ofAddress?: true }
  | { kind: 'channel_broken'; error: string }
  | { kind: 'message_refused'; error: string }

/** One for each kind of channel. Without e-mail set up there is none for it. */
export interface Transports {
  /** For chat services and other webhooks. */
  chat: Transport
  email: Transport | null
}
