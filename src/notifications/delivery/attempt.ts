import type { Membership } from '../../cluster/index.ts'
import { asError, type Clock, SECOND, unlessAborted } from '../../lib/index.ts'
import type { BatchOperation, DeliveryRow, Store } from '../../store/index.ts'
import { type ChannelKey, type ChannelSettings, clientIdOf } from '../channel.ts'
import type { AlertMessage, Message, MessageGroup } from '../message.ts'
import { type ServiceKind, serviceName } from '../services/services.ts'
import type { SendOrder, SendOutcome, Transports } from '../transport.ts'
import { addressesLeft } from './rest.ts'

/** What sending works with. */
export interface DeliveryTools {
  store: Store
  clock: Clock
  membership: Pick<Membership, 'nodeId' | 'isSurelyAlive'>
  transports: Transports
  channelSettings: ChannelSettings
  /** `PUBLIC_URL` without a trailing slash; known only once the service listens. */
  publicUrl: () => string
  /** Returns a number between 0 and 1, for jitter. */
  random: () => number
  timings: DeliveryTimings
  onError: (error: Error, what: string) => void
  /** Returns what else to write when messages about alerts were delivered. */
  onDelivered: DeliveredHook
  /** Called after each attempt with its outcome. */
  onOutcome: (kind: ServiceKind, outcome: SendOutcome['kind']) => void
}

export interface DeliveryTimings {
  /** The most that an attempt may take, ms. */
  chatMs: number
  emailMs: number
  /** The wait before writing an outcome is tried again, ms. */
  storeRetryMs: number
  /** How long a channel waits after this many failures in a row, ms; `backoffMs`, except in tests. */
  backoffMs: (failures: number, retryAfterMs: number | undefined, random: number) => number
}

/** A mail server may look up names and scan for viruses before it answers; the time limits of the SMTP client are shorter. */
export const ATTEMPT_MS = { chatMs: 10 * SECOND, emailMs: 90 * SECOND }

/** A transport that ignores the end of its time is left after this multiple of it. */
const OVERTIME = 1.1

/** A message about an alert that has reached someone. */
export interface DeliveredMessage {
  alertId: string
  kind: string
  channel: ChannelKey
  service: ServiceKind
  /** Epoch ms. */
  at: number
}

/** Returns what else to write when messages about alerts were delivered: in the same transaction, and possibly twice. */
export type DeliveredHook = (delivered: readonly DeliveredMessage[]) => readonly BatchOperation[]

/** Returns `Slack`, `e-mail` or `the webhook for all clients`. */
export const channelInWords = ({ channel, service }: Pick<DeliveredMessage, 'channel' | 'service'>): string =>
  `${serviceName(service)}${clientIdOf(channel) === null ? ' for all clients' : ''}`

/** A message that our own code fails on is given up after this many attempts, because the channel's other messages wait behind it. */
const FAULTS_MAX = 5

/** The transport failed over something that it should have been ready for. */
export const OWN_FAULT = { kind: 'passing', error: 'an error in the service, whose log has the details' } as const

/**
 * Sends a message, or a group of messages as one. Returns null when the service stops before the outcome is known.
 *
 * @param rows one, or all of a group
 * @param earlier receipts of earlier messages about the same alert, the newest first
 */
export async function attempt(
  tools: DeliveryTools,
  kind: ServiceKind,
  address: string,
  rows: readonly DeliveryRow[],
  earlier: readonly string[],
  stopping: AbortSignal,
): Promise<SendOutcome | null> {
  const { clock, publicUrl, onError } = tools
  const [first] = rows
  if (first === undefined) return null
  try {
    const order = {
      address,
      channel: first.channel,
      message: messageOf(rows),
      idempotencyKey: first.group_id ?? first.id,
      publicUrl: publicUrl(),
      at: clock.now(),
      earlier,
      ...addressesLeft(first),
    }
    return await sendWithin(tools, kind, order, stopping)
  } catch (thrown) {
    onError(asError(thrown), `sending message ${first.id} over ${first.channel}`)
    return first.attempts + 1 < FAULTS_MAX ? OWN_FAULT : { ...OWN_FAULT, kind: 'message_refused' }
  }
}

/**
 * Sends one message within the time limit of its kind of channel. Returns null when the service stops before the outcome is known.
 *
 * @throws faults of the transport
 */
export async function sendWithin(
  { transports, timings }: Pick<DeliveryTools, 'transports' | 'timings'>,
  kind: ServiceKind,
  order: SendOrder,
  stopping: AbortSignal,
): Promise<SendOutcome | null> {
  const transport = kind === 'email' ? transports.email : transports.chat
  if (transport === null) return { kind: 'passing', error: 'e-mail is not set up on this server' }
  const ms = kind === 'email' ? timings.emailMs : timings.chatMs
  const timeout = AbortSignal.timeout(ms)
  const late = { kind: 'passing', error: `no answer within ${ms / 1_000} s` } as const
  try {
    // When it is over, the transport may still say who has the message: a digest is several e-mails.
    const waiting = AbortSignal.any([stopping, AbortSignal.timeout(Math.ceil(ms * OVERTIME))])
    const outcome = await unlessAborted(waiting, transport.send(order, AbortSignal.any([stopping, timeout])))
    return timeout.aborted && outcome.kind === 'passing' ? late : outcome
  } catch (thrown) {
    // It may have got through; it is sent again.
    if (stopping.aborted) return null
    if (timeout.aborted) return late
    throw thrown
  }
}

function messageOf(rows: readonly DeliveryRow[]): Message | MessageGroup {
  const messages = rows.map(({ message }) => JSON.parse(message) as Message)
  const [first] = messages
  if (first === undefined) throw new Error('there is no message to send')
  if (messages.length === 1) return first
  // Only messages about alerts are grouped, by kind and nearly always by client; ends may be sent along with an opening.
  const alerts = messages as AlertMessage[]
  const [head = first as AlertMessage, another] = alerts.filter(({ kind }) => kind !== 'resolved')
  const isWithEnds = head.kind !== 'resolved' && another === undefined
  if (isWithEnds) return { ...head, over: alerts.filter((one) => one !== head) }
  const isOfOne = alerts.every(({ client }) => client.id === head.client.id)
  return { kind: 'group', of: head.kind, client: isOfOne ? head.client : null, messages: alerts }
}
