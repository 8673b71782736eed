import { isObject } from '../../lib/index.ts'
import { OutboundError } from '../../outbound/index.ts'
import { isNetworkFailure } from '../probe-type.ts'

/**
 * Why a request to Google failed:
 * - `no_credentials`, `bad_credentials`: no service account is configured, or its key is not valid
 * - `refused`: Google does not accept the service account
 * - `forbidden`, `api_disabled`: it may not read this, or the API is not enabled in its project
 * - `project_blocked`: Google serves no one in the project, or no one from here: billing, a suspension, an organization's policy
 * - `quota`: too many requests, by Google's count or by ours
 * - `not_found`: the object does not exist
 * - `unavailable`, `unreachable`: the API is down, or cannot be reached
 * - `bad_request`, `bad_answer`: Google did not understand the request, or we not the answer
 */
export type GoogleFailureReason =
  | 'no_credentials'
  | 'bad_credentials'
  | 'refused'
  | 'forbidden'
  | 'api_disabled'
  | 'project_blocked'
  | 'quota'
  | 'not_found'
  | 'unavailable'
  | 'unreachable'
  | 'bad_request'
  | 'bad_answer'

interface GoogleFailureFacts {
  /** HTTP status of the answer. */
  status?: number
  /** Google's message, shortened. */
  said?: string
  /** Google's own codes for the reason, such as `rateLimitExceeded`. */
  codes?: readonly string[]
  isNetworkFailure?: boolean
}

/** A failed request to Google. The message is a sentence for people and contains no secrets. */
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

/** Older APIs answer 403 when a quota is used up, newer ones 429; 403 also means a missing role. */
const QUOTA_CODES =
  /^(userRateLimitExceeded|rateLimitExceeded|dailyLimitExceeded|quotaExceeded|RATE_LIMIT_EXCEEDED|RESOURCE_EXHAUSTED)$/
const DISABLED_CODES = /^(accessNotConfigured|SERVICE_DISABLED)$/
const BLOCKED_CODES =
  /^(billingNotEnabled|BILLING_DISABLED|CONSUMER_SUSPENDED|CONSUMER_INVALID|SECURITY_POLICY_VIOLATED)$/
/** VPC Service Controls, which older APIs answer with the code of a missing role. */
const POLICY = /prohibited by organization's policy/i

export function reasonOf({ status, codes, said }: GoogleError): GoogleFailureReason {
  if (status === 429 || codes.some((code) => QUOTA_CODES.test(code))) return 'quota'
  // Google's APIs always say why. A bare 404 comes from something in between, and no table is missing because of it.
  if (status < 500 && said === '' && codes.length === 0) return 'bad_answer'
  if (codes.some((code) => DISABLED_CODES.test(code))) return 'api_disabled'
  if (POLICY.test(said) || codes.some((code) => BLOCKED_CODES.test(code))) return 'project_blocked'
  if (status === 401) return 'refused'
  if (status === 403) return 'forbidden'
  if (status === 404) return 'not_found'
  return status >= 500 ? 'unavailable' : 'bad_request'
}

/** Readers for JSON from others: values of unexpected types count as absent. */

export type JsonRecord = Readonly<Record<string, unknown>>

/** The objects in a list. */
export const recordsOf = (value: unknown): JsonRecord[] => (Array.isArray(value) ? value.filter(isObject) : [])

export const textOf = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null)

/** Google sends 64-bit integers as text. */
export function wholeNumberOf(value: unknown): number | null {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? value : null
  return typeof value === 'string' && /^-?\d{1,15}$/.test(value) ? Number(value) : null
}

/** Turns an unanswered request into a failure that names its receiver; returns other errors unchanged. */
export function unreachable(thrown: unknown, who: string): unknown {
  if (!(thrown instanceof OutboundError)) return thrown
  const why = thrown.kind === 'aborted' ? 'the check timed out' : thrown.message
  return new GoogleFailure('unreachable', `${who} did not answer: ${why}`, {
    isNetworkFailure: isNetworkFailure(thrown),
  })
}
