import { fieldsOf, isObject, SECOND } from '../../lib/index.ts'
import { type OutboundAnswer, retryAfterMs } from '../../outbound/index.ts'
import { withoutToken } from './answer.ts'

/**
 * Why a request to Meta failed:
 * - `token`: the access token has expired, was revoked or is not valid
 * - `forbidden`: it may not read this dataset
 * - `not_found`: the dataset does not exist, or the token does not see it
 * - `quota`: too many requests, by Meta's count
 * - `unavailable`, `unreachable`: the API is down, or cannot be reached
 * - `bad_request`, `bad_answer`: Meta did not understand the request, or we not the answer
 */
export type MetaFailureReason =
  | 'token'
  | 'forbidden'
  | 'not_found'
  | 'quota'
  | 'unavailable'
  | 'unreachable'
  | 'bad_request'
  | 'bad_answer'

interface MetaFailureFacts {
  /** HTTP status of the answer. */
  status?: number
  /** Meta's own codes for the reason. */
  code?: number | null
  subcode?: number | null
  isNetworkFailure?: boolean
}

/** A failed request to Meta. The message is a sentence for people and contains no secrets. */
export class MetaFailure extends Error {
  readonly reason: MetaFailureReason
  readonly facts: MetaFailureFacts

  constructor(reason: MetaFailureReason, message: string, facts: MetaFailureFacts = {}) {
    super(message)
    this.name = 'MetaFailure'
    this.reason = reason
    this.facts = facts
  }
}

interface GraphError {
  code: number | null
  subcode: number | null
  isTransient: boolean
  message: string
}

/** Reads `{ error: { message, type, code, error_subcode, is_transient } }`, of which any part may be missing. */
function graphErrorIn(json: unknown): GraphError {
  const { error } = fieldsOf(json)
  const { code, error_subcode: subcode, is_transient: isTransient, message } = fieldsOf(error)
  return {
    code: typeof code === 'number' ? code : null,
    subcode: typeof subcode === 'number' ? subcode : null,
    isTransient: isTransient === true,
    message: typeof message === 'string' ? message : '',
  }
}

/** Returns the field that a request was refused for: `(#100) Tried accessing nonexistent field (data_freshness) on node type (…)`. */
export function refusedField(json: unknown): string | null {
  if (!isObject(json)) return null
  return /nonexistent field \((\w{1,60})\)/i.exec(graphErrorIn(json).message.slice(0, SAID_READ))?.[1] ?? null
}

/** Characters of Meta's message that are read, and shown. */
const SAID_READ = 2_000
const SAID_MAX = 300

const between = (code: number | null, least: number, most: number): boolean =>
  code !== null && code >= least && code <= most

/**
 * By Meta's codes if there is one, because it mostly answers 400 for any error:
 * https://developers.facebook.com/docs/graph-api/guides/error-handling
 */
export function reasonOf(
  status: number,
  { code, subcode, isTransient }: Omit<GraphError, 'message'>,
): MetaFailureReason {
  if (code === 190 || code === 102) return 'token'
  if (code === 4 || code === 17 || code === 32 || code === 613 || between(code, 80_000, 80_014)) return 'quota'
  if (subcode === 2_044_055 || code === 803 || (code === 100 && subcode === 33)) return 'not_found'
  if (code === 3 || code === 10 || between(code, 200, 299)) return 'forbidden'
  if (code === 1 || code === 2 || isTransient) return 'unavailable'
  if (status === 429) return 'quota'
  if (status === 401) return 'token'
  if (status === 403) return 'forbidden'
  if (status === 404) return 'not_found'
  return status >= 500 ? 'unavailable' : 'bad_request'
}

/** Graph's messages may contain tokens, in part too. */
const withoutSecrets = (text: string, token: string): string => withoutToken(text, token).replace(/[\w.|-]{25,}/g, '…')

/** Returns why an answer is a refusal. Meta's own words appear only when nothing better is known. */
export function refusalOf(
  { status, headers, location, body }: OutboundAnswer,
  json: unknown,
  { datasetId, token }: { datasetId: string; token: string },
  now: number,
): MetaFailure {
  const error = graphErrorIn(json)
  const { code, subcode } = error
  if (location !== null) {
    return new MetaFailure('bad_answer', `Meta redirects (${status}), which is not followed: check META_API_URL`, {
      status,
    })
  }
  if (/^\s*</.test(body) && [401, 403, 404, 407].includes(status)) {
    const message = `A web page answered instead of Meta (${status}): a proxy or firewall on the way refuses the request, or META_API_URL is wrong`
    return new MetaFailure('bad_answer', message, { status })
  }
  const reason = reasonOf(status, error)
  const number = code === null ? `${status}` : `code ${code}`
  const retryMs = retryAfterMs(headers['retry-after'], now)
  const messages: Readonly<Partial<Record<MetaFailureReason, string>>> = {
    token: `Meta does not accept the access token (${number}): it has expired or was revoked. Generate another one, of a system user`,
    forbidden: `The access token may not read dataset ${datasetId} (${number}): it needs ads_read with ads_management or business_management, and its user needs the dataset as an asset`,
    not_found: `Meta knows no dataset ${datasetId} (${number}), or the access token does not see it: check the id in Events Manager`,
    quota: `Meta accepts no more requests for now (${number})${retryMs === null ? '' : `, for another ${Math.ceil(retryMs / SECOND)} s`}: let the probe run less often`,
    unavailable: `Meta is unavailable (${number})`,
  }
  const said = withoutSecrets(error.message.slice(0, SAID_READ), token).trim().slice(0, SAID_MAX)
  const otherwise = `Meta rejects the request (${number})${said === '' ? '' : `: ${said}`}`
  return new MetaFailure(reason, messages[reason] ?? otherwise, { status, code, subcode })
}
