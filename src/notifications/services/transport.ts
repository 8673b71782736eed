import { isObject, SECOND } from '../../lib/index.ts'
import { type Outbound, OutboundError, type OutboundErrorKind, retryAfterMs } from '../../outbound/index.ts'
import type { Message, MessageGroup } from '../message.ts'
import type { SendOutcome, Transport } from '../transport.ts'
import { destinationOf } from './destination.ts'
import { type Answer, type AnswerRule, type BodyOptions, type OutcomeRules, parsedObject } from './service.ts'
import { bodyOf, definitionOf, type Service, serviceOf } from './services.ts'

export interface ChatOptions {
  /** The only way to addresses that people typed in: private ones are refused, whatever name or spelling leads to them. */
  outbound: Outbound
  /** Signs what goes to webhooks that are no chat service; null leaves them unsigned. */
  webhookSecret: string | null
}

const LIMITS = { totalMs: 15 * SECOND, bodyBytes: 16 * 1_024 }

/** Failures that lie in the address, which no waiting mends. */
const BROKEN: readonly OutboundErrorKind[] = ['bad_url', 'forbidden_address']

/** Sends to chat services and other webhooks, each in the shape it takes. */
export function createChatTransport({ outbound, webhookSecret }: ChatOptions): Transport {
  return {
    async send(order, signal) {
      const { service: named, url, credential } = destinationOf(order.address)
      const service = named ?? serviceOf(url)
      const options = { ...order, credential }
      const body = bodyOf(service, order.message, options)
      try {
        const answer = await outbound.request(requestUrl(service, url, order.message, options), {
          method: 'POST',
          headers: { ...HEADERS, ...definitionOf(service).headers?.(order, body, credential ?? webhookSecret) },
          body,
          limits: LIMITS,
          signal,
        })
        return outcomeOf(service, answer, order.at)
      } catch (thrown) {
        return outcomeOfFailure(thrown)
      }
    },
  }
}

const HEADERS = { 'content-type': 'application/json; charset=utf-8', accept: 'application/json, text/plain, */*' }

/** The address with what the service wants in it. */
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

/** @throws what is no failure of the request, but a fault of this program */
function outcomeOfFailure(thrown: unknown): SendOutcome {
  if (!(thrown instanceof OutboundError)) throw thrown
  return { kind: BROKEN.includes(thrown.kind) ? 'channel_broken' : 'passing', error: thrown.message }
}

/** What is wrong with the address or with who may use it: every message would be refused. */
const BROKEN_STATUSES = [401, 402, 403, 404, 405, 407, 410, 411, 415, 451]
const PASSING_STATUSES = [408, 425, 429]

/**
 * What an answer means for the message and its channel. Errors name the service and the reason it gave, never text of an
 * unknown server: it may repeat the address, which is a secret.
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
  return { kind: 'message_refused', error: `${said}: it does not take this message` }
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
 * Redirects are not followed: a browser's way of following one asks the new address for a page instead of sending it the
 * message, which would count as delivered.
 */
function redirected(answer: Answer, said: string): SendOutcome {
  const host = locationHost(answer)
  const error = `${said}: it sends us on${host === null ? '' : ` to ${host}`}, which is not followed; set the address that it leads to`
  // 303 says that what was sent was taken, and where to read more.
  if (answer.status === 303) return { kind: 'delivered', note: said }
  return answer.status === 301 || answer.status === 308 ? { kind: 'channel_broken', error } : { kind: 'passing', error }
}

const locationHost = ({ headers }: Answer): string | null =>
  headers.location === undefined ? null : (URL.parse(headers.location)?.host ?? null)

/** The word or number by which the answer says what is wrong: `no_service`, `10015`, `WorkflowTriggerIsNotEnabled`. */
function reasonIn(body: string): string | null {
  const text = body.trim()
  const json = parsedObject(text)
  if (json === null) return /^[a-z][a-z_]{2,60}$/.test(text) ? text : null
  const error = isObject(json.error) ? json.error : json
  // Google has the number of the status as `code`, and a word beside it.
  for (const value of [error.status, error.code]) {
    if (typeof value === 'number' && value > 0) return String(value)
    if (typeof value === 'string' && /^\w{3,60}$/.test(value)) return value
  }
  return null
}
