import { isObject, parseForeignJson } from '../../lib/index.ts'
import { OutboundError } from '../../outbound/index.ts'
import { isNetworkFailure } from '../probe-type.ts'
import type { Caller } from './access-tokens.ts'
import type { ServiceAccount } from './service-account.ts'

interface Question {
  url: string
  scope: string
  /** For people, e.g. `Tag Manager`. */
  api: string
  /** Sent as JSON with POST; GET without it. */
  body?: JsonRecord
}

export interface GoogleAnswer {
  json: JsonRecord
  /** From the request to the end of the answer. */
  tookMs: number
}

const ANSWER_BYTES = 4 * 1_024 * 1_024

/**
 * Asks one of Google's APIs as the service account. Redirects are not followed: the token is for this host only.
 *
 * @throws GoogleFailure
 */
export async function askGoogle(account: ServiceAccount, question: Question, caller: Caller): Promise<GoogleAnswer> {
  const { url, scope, api, body } = question
  const who = `The ${api} API`
  const answer = await account.tokens
    .get(scope, caller)
    .then((token) =>
      caller.outbound.request(url, {
        headers: {
          authorization: `Bearer ${token}`,
          accept: 'application/json',
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(body === undefined ? {} : { method: 'POST' as const, body: JSON.stringify(body) }),
        limits: { totalMs: caller.timeoutMs, bodyBytes: ANSWER_BYTES },
        signal: caller.signal,
      }),
    )
    .catch((thrown: unknown) => {
      if (thrown instanceof GoogleFailure) throw thrown
      if (caller.signal.aborted)
        throw new GoogleFailure('unreachable', `${who} did not answer in the time of the check`)
      throw unreachable(thrown, who)
    })
  const json = parseForeignJson(answer.body)
  if (answer.status !== 200) {
    if (answer.status === 401) account.tokens.forget(scope)
    throw refusal(answer.status, json, api, account.email)
  }
  if (answer.isTruncated || !isObject(json)) {
    const why = answer.isTruncated ? 'more than 4 MB' : 'something that is no JSON object, or too nested or long a one'
    throw new GoogleFailure('bad_answer', `${who} answered ${why}`, { status: answer.status })
  }
  return { json, tookMs: answer.timings.total }
}

function refusal(status: number, json: unknown, api: string, email: string): GoogleFailure {
  const googleError = googleErrorOf(status, json)
  const reason = reasonOf(googleError)
  const said = googleError.said === '' ? '' : `: ${googleError.said}`
  const messages: Partial<Record<GoogleFailureReason, string>> = {
    refused: `The ${api} API does not accept the service account ${email} (${status})`,
    forbidden: `${email} may not read this (${status})${said}`,
    api_disabled: `The ${api} API is not switched on in the Google Cloud project of ${email}`,
    quota: `The quota of the ${api} API is used up (${status})`,
    unavailable: `The ${api} API answers ${status}`,
  }
  return new GoogleFailure(reason, messages[reason] ?? `The ${api} API answers ${status}${said}`, googleError)
}

/**
 * Why Google could not be asked:
 * - `no_credentials`, `bad_credentials`: no service account is set up, or its key cannot be used
 * - `refused`: Google does not accept the service account
 * - `forbidden`, `api_disabled`: it may not read this, or the API is switched off in its project
 * - `quota`: too many requests, by Google's count or by ours
 * - `not_found`: there is no such thing
 * - `unavailable`, `unreachable`: the API is down, or there is no way to it
 * - `bad_request`, `bad_answer`: one of the two was not understood
 */
type GoogleFailureReason =
  | 'no_credentials'
  | 'bad_credentials'
  | 'refused'
  | 'forbidden'
  | 'api_disabled'
  | 'quota'
  | 'not_found'
  | 'unavailable'
  | 'unreachable'
  | 'bad_request'
  | 'bad_answer'

interface GoogleFailureFacts {
  /** HTTP status of the answer. */
  status?: number
  /** What Google said about it, shortened. */
  said?: string
  /** Google's own words for the reason, such as `rateLimitExceeded`. */
  codes?: readonly string[]
  isNetworkFailure?: boolean
}

/** A question to Google that came to nothing. The message is a sentence for people, and holds no secrets. */
export class GoogleFailure extends Error {
  readonly reason: GoogleFailureReason
  readonly facts: GoogleFailureFacts

  constructor(reason: GoogleFailureReason, message: string, facts: GoogleFailureFacts = {}) {
    super(message)
    this.name = 'GoogleFailure'
    this.reason = reason
    this.facts = facts
  }
}

/** The error in an answer with a bad status. */
interface GoogleError {
  status: number
  said: string
  codes: readonly string[]
}

const SAID_MAX = 400

/** Reads the error of an API (`{ error: { message, errors, status, details } }`) or of a token server (`{ error: 'invalid_grant' }`). */
export function googleErrorOf(status: number, body: unknown): GoogleError {
  const error = isObject(body) ? body.error : undefined
  if (typeof error === 'string') {
    const description = isObject(body) ? body.error_description : undefined
    return { status, said: shortened(typeof description === 'string' ? description : error), codes: [error] }
  }
  if (!isObject(error)) return { status, said: '', codes: [] }
  const parts = [error.errors, error.details].flatMap((list) => (Array.isArray(list) ? list : []))
  const reasons = parts.map((part: unknown) => (isObject(part) ? part.reason : undefined))
  const codes = [...reasons, error.status].filter((code) => typeof code === 'string')
  return { status, said: shortened(typeof error.message === 'string' ? error.message : ''), codes }
}

const shortened = (text: string): string => (text.length <= SAID_MAX ? text : `${text.slice(0, SAID_MAX)}…`)

/** Over quota is 403 with the older APIs and 429 with the newer ones; 403 is also what a missing role is. */
const QUOTA_CODES =
  /^(userRateLimitExceeded|rateLimitExceeded|dailyLimitExceeded|quotaExceeded|RATE_LIMIT_EXCEEDED|RESOURCE_EXHAUSTED)$/
const DISABLED_CODES = /^(accessNotConfigured|SERVICE_DISABLED)$/

export function reasonOf({ status, codes }: GoogleError): GoogleFailureReason {
  if (status === 429 || codes.some((code) => QUOTA_CODES.test(code))) return 'quota'
  if (codes.some((code) => DISABLED_CODES.test(code))) return 'api_disabled'
  if (status === 401) return 'refused'
  if (status === 403) return 'forbidden'
  if (status === 404) return 'not_found'
  return status >= 500 ? 'unavailable' : 'bad_request'
}

/** Readers of JSON that others wrote: what is not as expected is absent. */

export type JsonRecord = Readonly<Record<string, unknown>>

/** The objects of a list. */
export const recordsOf = (value: unknown): JsonRecord[] => (Array.isArray(value) ? value.filter(isObject) : [])

export const textOf = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null)

/** Google writes whole numbers of 64 bits as text. */
export function wholeNumberOf(value: unknown): number | null {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? value : null
  return typeof value === 'string' && /^-?\d{1,15}$/.test(value) ? Number(value) : null
}

/** A request that was not answered, as a sentence about whom it was sent to. What is no failure of a request stays as it is. */
export function unreachable(thrown: unknown, who: string): unknown {
  if (!(thrown instanceof OutboundError)) return thrown
  const why = thrown.kind === 'aborted' ? 'the time of the check was over' : thrown.message
  return new GoogleFailure('unreachable', `${who} did not answer: ${why}`, {
    isNetworkFailure: isNetworkFailure(thrown),
  })
}
