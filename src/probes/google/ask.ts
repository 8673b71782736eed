import { isObject, parseForeignJson } from '../../lib/index.ts'
import type { Caller } from './access-tokens.ts'
import {
  GoogleFailure,
  type GoogleFailureReason,
  googleErrorOf,
  type JsonRecord,
  reasonOf,
  unreachable,
} from './failure.ts'
import type { ServiceAccount } from './service-account.ts'

interface Question {
  url: string
  scope: string
  /** Name for people, e.g. `Tag Manager`. */
  api: string
  /** Sent as JSON with POST; without it, GET. */
  body?: JsonRecord
}

export interface GoogleAnswer {
  json: JsonRecord
  /** From the request to the end of the answer, ms. */
  tookMs: number
}

const ANSWER_BYTES = 4 * 1_024 * 1_024

/**
 * Sends a request to one of Google's APIs as the service account. Redirects are not followed, because the token is for this host only.
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
      if (caller.signal.aborted) throw new GoogleFailure('unreachable', `${who} did not answer in time`)
      throw unreachable(thrown, who)
    })
  const json = parseForeignJson(answer.body)
  if (answer.status !== 200) {
    if (answer.status === 401) account.tokens.forget(scope)
    throw refusal(answer.status, json, api, account.email)
  }
  if (answer.isTruncated || !isObject(json)) {
    const why = answer.isTruncated
      ? 'more than 4 MB'
      : 'something that is not a JSON object, or is too nested or too long'
    throw new GoogleFailure('bad_answer', `${who} answered with ${why}`, { status: answer.status })
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
    api_disabled: `The ${api} API is not enabled in the Google Cloud project of ${email}`,
    project_blocked: `Google refuses requests for the Google Cloud project (${status})${said}`,
    bad_answer: `The ${api} API answers ${status} without an error of Google's: check its address and what lies in between, such as a proxy`,
    quota: `The quota of the ${api} API is used up (${status})`,
    unavailable: `The ${api} API answers ${status}`,
  }
  return new GoogleFailure(reason, messages[reason] ?? `The ${api} API answers ${status}${said}`, googleError)
}
