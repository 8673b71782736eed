import { parseForeignJson, SECOND } from '../../lib/index.ts'
import { retryAfterMs } from '../../outbound/index.ts'
import { providerFailure, type RequestTools } from './ask.ts'
import type { CheckFinding } from './judge.ts'

export interface HostingCheck {
  findings: readonly CheckFinding[]
  /** The message when nothing is wrong; empty when nothing is known. */
  summary: string
  details: Readonly<Record<string, unknown>>
  /** How long the host's API took, ms; null when it did not answer. */
  totalMs: number | null
  failure: unknown
}

export interface HostingTools extends RequestTools {
  /** When the run started, epoch ms. */
  now: number
}

/** The answer of a host's API: JSON, or why there is none. */
export type HostingAnswer =
  | { isAnswer: true; body: unknown; totalMs: number }
  | {
      isAnswer: false
      /** Null without an answer. */
      status: number | null
      /** It is a web page: something in front of the API sent it, and a 404 says nothing about the container. */
      isPage: boolean
      finding: CheckFinding
      failure: unknown
    }

/** Requests one address of a host's API. */
export type Ask = (url: string) => Promise<HostingAnswer>

/**
 * Requests an address of a host's API. If it is down, slow or refuses our key, that says nothing about the container.
 *
 * @param who e.g. `the API of the hosting provider`
 */
export async function askJson(
  { outbound, timeoutMs, signal, now }: HostingTools,
  who: string,
  url: string,
  headers: Readonly<Record<string, string>>,
): Promise<HostingAnswer> {
  try {
    const {
      status,
      body,
      headers: answered,
      timings,
    } = await outbound.request(url, {
      headers: { accept: 'application/json', ...headers },
      limits: { totalMs: timeoutMs },
      signal,
    })
    const problem = problemOf(status, retryAfterMs(answered['retry-after'], now))
    const json = problem === null ? parseForeignJson(body) : undefined
    if (json !== undefined) return { isAnswer: true, body: json, totalMs: timings.total }
    const message = `${who} ${problem ?? `answered ${status} with something that is not JSON, or is too nested or too long`}`
    const finding: CheckFinding = { check: 'hosting', status: 'error', message }
    return { isAnswer: false, status, isPage: /^\s*</.test(body), finding, failure: undefined }
  } catch (failure) {
    const finding = providerFailure('hosting', who, failure, timeoutMs)
    return { isAnswer: false, status: null, isPage: false, finding, failure }
  }
}

function problemOf(status: number, retryMs: number | null): string | null {
  if (status >= 200 && status < 300) return null
  if (status === 401 || status === 403) {
    return `refuses the key (${status}): it is wrong or has expired, or the plan does not include the API`
  }
  if (status !== 429) return `answered ${status}`
  return `answered 429, too many requests${retryMs === null ? '' : `, for another ${Math.ceil(retryMs / SECOND)} s`}`
}

const words = (text: string): ReadonlySet<string> => new Set(text.split(' '))

const BAD = words(
  'blocked canceled cancelled crashed critical dead deleted disabled down error expired failed failing failure inactive ' +
    'invalid not offline paused stopped suspended terminated unhealthy unavailable',
)
const CHANGING = words(
  'creating degraded deploying deleting draining initializing maintenance migrating pending processing progress ' +
    'provisioning queued restarting scaling starting stopping updating validating verifying waiting warning',
)
const GOOD = words(
  'active available deployed enabled healthy live ok online operational ready running success up valid verified',
)

/**
 * Returns what a host's word for a state means. A word of trouble outweighs the others (`not running`).
 *
 * @param okStatuses words that people marked as fine; case does not matter
 * @returns null for words that this version does not know
 */
export function meaningOf(label: string, okStatuses: readonly string[]): 'ok' | 'warning' | 'critical' | null {
  const text = label.trim().toLowerCase()
  if (okStatuses.some((word) => word.trim().toLowerCase() === text)) return 'ok'
  const parts = text.split(/[^\p{L}]+/u)
  if (parts.some((part) => BAD.has(part))) return 'critical'
  if (parts.some((part) => CHANGING.has(part))) return 'warning'
  return parts.some((part) => GOOD.has(part)) ? 'ok' : null
}

/** @param what e.g. `the container` */
export function judgeStatus(check: string, what: string, label: string, okStatuses: readonly string[]): CheckFinding {
  const meaning = meaningOf(label, okStatuses)
  if (meaning !== null) return { check, status: meaning, message: `${what} is "${label}"` }
  const message = `${what} is "${label}", a status that this version does not know: name it in ok_statuses if it is fine`
  return { check, status: 'warning', message }
}
