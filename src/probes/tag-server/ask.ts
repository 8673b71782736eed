import { isOurs, type Outbound, type OutboundAnswer, OutboundError } from '../../outbound/index.ts'
import { type HealthEndpoint, urlAt } from './addresses.ts'
import { certificateDetails } from './certificate.ts'
import type { CheckFinding } from './judge.ts'
import { type AnswerLimits, type HealthAnswer, isHealthy } from './judge.ts'

/** What requests need from a run. */
export interface RequestTools {
  outbound: Outbound
  timeoutMs: number
  signal: AbortSignal
}

export interface EndpointAnswer {
  endpoint: HealthEndpoint
  answer: OutboundAnswer
}

const BODY_BYTES = 64 * 1_024
/** Limit when searching for a text, which may be anywhere in a page. */
const PAGE_BYTES = 1_024 * 1_024

/**
 * Requests the endpoints in their order until one is healthy. If none is, the first that exists (is not 404) is judged, or
 * else the first of all.
 *
 * @returns every endpoint that was requested, and the one to judge
 * @throws OutboundError when an endpoint does not answer
 */
export async function askHealth(
  { outbound, timeoutMs, signal }: RequestTools,
  tagServerUrl: string,
  endpoints: readonly HealthEndpoint[],
  limits: AnswerLimits,
): Promise<{ asked: readonly EndpointAnswer[]; chosen: EndpointAnswer }> {
  const asked: EndpointAnswer[] = []
  const bodyBytes = limits.expected_body === undefined ? BODY_BYTES : PAGE_BYTES
  for (const endpoint of endpoints) {
    if (!endpoint.isOwn && limits.expected_body === undefined && asked.some(saysElse)) break
    const answer = await outbound.request(urlAt(tagServerUrl, endpoint.path), {
      limits: { totalMs: timeoutMs, bodyBytes },
      signal,
    })
    asked.push({ endpoint, answer })
    const found = isHealthy(endpoint, healthAnswer(answer), limits)
    if (found || !mayBeElsewhere(answer)) break
  }
  const chosen =
    asked.find(({ endpoint, answer }) => isHealthy(endpoint, healthAnswer(answer), limits)) ??
    asked.find(({ answer }) => answer.status !== 404) ??
    asked[0]
  if (chosen === undefined) throw new Error('there is no endpoint to ask')
  return { asked, chosen }
}

/** A server that answers the image's own addresses differently probably answers every address like that, which shows no tag server. */
const saysElse = ({ answer: { status, body } }: EndpointAnswer): boolean =>
  status >= 200 && status < 300 && body.trim() !== ''

/** A failing server fails at every address, so it is not asked three times. */
const mayBeElsewhere = ({ status }: OutboundAnswer): boolean => status === 404 || (status >= 200 && status < 300)

export const healthAnswer = ({ timings, ...answer }: OutboundAnswer): HealthAnswer => ({
  ...answer,
  totalMs: timings.total,
})

const hostOf = (url: string): string => URL.parse(url)?.host ?? 'the address'

/**
 * Judges a target that did not answer: it is down for those who need it, unless we could not even send the request.
 *
 * @throws what was thrown, when it is no OutboundError
 */
export function targetFailure(check: string, url: string, thrown: unknown, timeoutMs: number): CheckFinding {
  const failure = asOutboundError(thrown)
  const { kind, message } = failure
  if (isOurs(failure)) return { check, status: 'error', message: `${hostOf(url)} cannot be checked: ${message}` }
  // The run's signal is the shortest limit, and its reason only says that no one waits any more.
  if (kind === 'aborted') return { check, status: 'critical', message: timedOut(url, timeoutMs) }
  return { check, status: 'critical', message }
}

const timedOut = (url: string, timeoutMs: number): string => `${hostOf(url)} did not answer within ${timeoutMs} ms`

/**
 * Judges a provider that did not answer a question about the target: that says nothing about the target.
 *
 * @param who e.g. `the API of the hosting provider`
 * @throws what was thrown, when it is no OutboundError
 */
export function providerFailure(check: string, who: string, thrown: unknown, timeoutMs: number): CheckFinding {
  const { kind, message } = asOutboundError(thrown)
  const why = kind === 'aborted' ? `it did not answer within ${timeoutMs} ms` : message
  return { check, status: 'error', message: `${who} could not be reached: ${why}` }
}

/** For the details of a result: the kind of failure, the phase in which it occurred, and the rejected certificate. */
export function failureDetails(thrown: unknown) {
  const { kind, phase, certificate } = asOutboundError(thrown)
  return { kind, phase, certificate: certificateDetails(certificate) }
}

function asOutboundError(thrown: unknown): OutboundError {
  if (thrown instanceof OutboundError) return thrown
  throw thrown
}
