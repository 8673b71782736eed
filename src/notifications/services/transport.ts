import { isObject, SECOND } from '../../lib/index.ts'
import { type Outbound, OutboundError, type OutboundErrorKind, retryAfterMs } from '../../outbound/index.ts'
import type { Message, MessageGroup } from '../message.ts'
import type { SendOrder, SendOutcome, Transport } from '../transport.ts'
import { type Answer, type AnswerRule, type BodyOptions, type OutcomeRules, parsedObject } from './service.ts'
import { bodyOf, type Destination, definitionOf, destinationOf, type Service, serviceOf } from './services.ts'

export interface ChatOptions {
  /** The only way to addresses that people entered: it refuses private ones, whatever name or spelling leads to them. */
  outbound: Outbound
  /** Signs requests to webhooks of unknown services; null leaves them unsigned. */
  webhookSecret: string | null
  /** How long the body of an answer may take, ms; `ANSWER_MS`, except in tests. */
  answerMs?: number
}

/** The attempt ends soon after, and a message whose outcome is not known by then is sent again. */
const ANSWER_MS = 3 * SECOND
/** Discord's answer holds the whole message. */
const LIMITS = { totalMs: 15 * SECOND, bodyBytes: 64 * 1_024 }

/** Failures of the address itself, which no waiting fixes. */
const BROKEN: readonly OutboundErrorKind[] = ['bad_url', 'forbidden_address']

/** Makes the transport for chat services and other webhooks, each of which gets the shape it expects. */
export function createChatTransport(chat: ChatOptions): Transport {
  return {
    async send(order, signal) {
      const sending = { ...chat, order, signal, ...destinationOf(order.address) }
      return (await changeEarlier(sending)) ?? post(sending)
    },
  }
}

interface Sending extends ChatOptions, Destination {
  order: SendOrder
  signal: AbortSignal
  /** The key of the further incident that the message is about, see `Beside`. */
  dedupKey?: string
}

const serviceFor = ({ service, url }: Destination): Service => service ?? serviceOf(url)

const postUrl = (sending: Sending): string =>
  requestUrl(serviceFor(sending), sending.url, sending.order.message, optionsOf(sending))

const optionsOf = ({ order, credential, dedupKey }: Sending): BodyOptions => ({
  ...order,
  credential,
  ...(dedupKey === undefined ? {} : { dedupKey }),
})

/**
 * Posts a message, also for further incidents (see `Beside`). If one request fails, all are repeated: closing an incident twice
 * does no harm.
 */
async function post(sending: Sending): Promise<SendOutcome> {
  const { beside } = definitionOf(serviceFor(sending))
  const { message, earlier = [] } = sending.order
  const postOnce = (of: Sending) => ask(of, 'POST', postUrl(of))
  const opened = beside?.keyOf(message) ?? null
  if (opened !== null) {
    const outcome = await postOnce({ ...sending, dedupKey: opened })
    return outcome.kind === 'delivered' ? { ...outcome, receipt: opened } : outcome
  }
  let outcome = await postOnce(sending)
  const others = beside?.isAboutAll(message) === true ? new Set(earlier) : []
  for (const dedupKey of others) {
    if (outcome.kind !== 'delivered') return outcome
    outcome = await postOnce({ ...sending, dedupKey })
  }
  return outcome
}

/** Earlier messages that are changed too: the service counts each change as a message. */
const MOST_CHANGED = 3

/**
 * Changes earlier messages about the same alert, where the service can do that. Returns null when it has to be a new message: also
 * when someone has deleted the earlier one.
 */
async function changeEarlier(sending: Sending): Promise<SendOutcome | null> {
  const { order, url: address } = sending
  const { edits } = definitionOf(serviceFor(sending))
  const url = URL.parse(address)
  const { earlier = [], message } = order
  if (url === null || edits === undefined || !edits.kinds.some((kind) => kind === message.kind)) return null
  let newest: SendOutcome | null = null
  for (const receipt of earlier.slice(0, MOST_CHANGED)) {
    const outcome = await ask(sending, 'PATCH', edits.url(url, receipt).href)
    // All of it is repeated, as changing a message twice does no harm.
    if (outcome.kind === 'passing') return outcome
    newest ??= outcome
  }
  return newest?.kind === 'delivered' ? { kind: 'delivered' } : null
}

async function ask(sending: Sending, method: 'POST' | 'PATCH', url: string): Promise<SendOutcome> {
  const { outbound, webhookSecret, answerMs = ANSWER_MS, order, signal, credential } = sending
  const service = serviceFor(sending)
  const definition = definitionOf(service)
  const body = bodyOf(service, order.message, optionsOf(sending))
  try {
    const answer = await outbound.request(url, {
      method,
      headers: { ...HEADERS, ...definition.headers?.(order, body, credential ?? webhookSecret) },
      body,
      limits: { ...LIMITS, bodyMs: answerMs },
      // It was accepted: sent again, it would arrive for 24 hours, and keep the channel's others waiting.
      isDoneByHead: true,
      signal,
    })
    const outcome = outcomeOf(service, answer, order.at)
    const receipt = outcome.kind === 'delivered' ? definition.edits?.receiptIn(answer.body) : null
    return typeof receipt === 'string' ? { ...outcome, kind: 'delivered', receipt } : outcome
  } catch (thrown) {
    return outcomeOfFailure(thrown)
  }
}

const HEADERS = { 'content-type': 'application/json; charset=utf-8', accept: 'application/json, text/plain, */*' }

/** Returns the address with what the service wants in it. */
export function requestUrl(
  service: Service,
  address: string,
  message: Message | MessageGroup,
  options: BodyOptions,
): string {
  const { url: changed } = definitionOf(service)
  const url = URL.parse(address)
  return url === null || changed === undefined ? address : changed(url, message, options).href
}

/**
 * Returns the outcome of a failed request.
 *
 * @throws anything that is not a failure of the request but a fault of our own
 */
function outcomeOfFailure(thrown: unknown): SendOutcome {
  if (!(thrown instanceof OutboundError)) throw thrown
  return { kind: BROKEN.includes(thrown.kind) ? 'channel_broken' : 'passing', error: thrown.message }
}

/** Statuses that mean a wrong address or missing permission: every message would be refused. */
const BROKEN_STATUSES = [401, 402, 403, 404, 405, 407, 410, 411, 415, 451]
const PASSING_STATUSES = [408, 425, 429]

/**
 * Returns what an answer means for the message and its channel. Errors name the service and the reason that it gave, but never text
 * of an unknown server, which may repeat the address, a secret.
 *
 * @param now epoch ms, for a `Retry-After` that names a time
 */
export function outcomeOf(service: Service, answer: Answer, now: number): SendOutcome {
  const { title, outcome } = definitionOf(service)
  const reason = outcome.repeatsReason ? reasonIn(answer.body) : null
  const said = `${title} answered ${answer.status}${reason === null ? '' : ` (${reason})`}`
  const rule = outcome.rules.find(({ status, reason: pattern }) => {
    return (
      status === answer.status &&
      [reason, locationHost(answer), answer.body].some((text) => text !== null && pattern.test(text))
    )
  })
  if (rule !== undefined) return ruled(rule, said)
  const { status } = answer
  if (status >= 200 && status < 300) return { kind: 'delivered' }
  if (status >= 500 || status < 200 || PASSING_STATUSES.includes(status)) return passing(outcome, answer, said, now)
  if (status < 400) return redirected(answer, said)
  if (BROKEN_STATUSES.includes(status)) return { kind: 'channel_broken', error: `${said}: check the address` }
  return { kind: 'message_refused', error: `${said}: it does not accept this message` }
}

function ruled({ kind, says, retryAfterMs: wait }: AnswerRule, said: string): SendOutcome {
  if (kind === 'delivered') return says === '' ? { kind } : { kind, note: says }
  const error = `${said}: ${says}`
  return kind === 'passing' ? { kind, error, ...(wait === undefined ? {} : { retryAfterMs: wait }) } : { kind, error }
}

function passing(rules: OutcomeRules, { status, headers, body }: Answer, said: string, now: number): SendOutcome {
  const asked = rules.retryAfterMs?.(body) ?? retryAfterMs(headers['retry-after'], now)
  const least = status === 429 ? (rules.leastWaitMs ?? null) : null
  if (asked === null && least === null) return { kind: 'passing', error: said }
  return { kind: 'passing', error: said, retryAfterMs: Math.max(asked ?? 0, least ?? 0) }
}

/**
 * Does not follow redirects: as browsers do it, a request with GET would ask the new address for a page, which would count as
 * delivered.
 */
function redirected(answer: Answer, said: string): SendOutcome {
  const host = locationHost(answer)
  const error = `${said}: it redirects${host === null ? '' : ` to ${host}`}, which is not followed; set the address that it redirects to`
  // 303 means that the message was accepted and where to read more.
  if (answer.status === 303) return { kind: 'delivered', note: said }
  return answer.status === 301 || answer.status === 308 ? { kind: 'channel_broken', error } : { kind: 'passing', error }
}

const locationHost = ({ headers }: Answer): string | null =>
  headers.location === undefined ? null : (URL.parse(headers.location)?.host ?? null)

/** Returns the word or number in the answer that says what is wrong: `no_service`, `10015`, `WorkflowTriggerIsNotEnabled`. */
function reasonIn(body: string): string | null {
  const text = body.trim()
  const json = parsedObject(text)
  if (json === null) return /^[a-z][a-z_]{2,60}$/.test(text) ? text : null
  const error = isObject(json.error) ? json.error : json
  // Google repeats the HTTP status as `code`, and has a word in `status`.
  for (const value of [error.status, error.code]) {
    if (typeof value === 'number' && value > 0) return String(value)
    if (typeof value === 'string' && /^\w{3,60}$/.test(value)) return value
  }
  return null
}
