import { isOurs, type Outbound, type OutboundAnswer, OutboundError } from '../../outbound/index.ts'
import { type HealthEndpoint, urlAt } from './addresses.ts'
import { certificateDetails } from './certificate.ts'
import type { CheckFinding } from './judge.ts'
import { type AnswerLimits, type HealthAnswer, isHealthy } from './judge.ts'

/** What requests need of a run. */
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
/** Where a text is looked for, which may stand anywhere in a page. */
const PAGE_BYTES = 1_024 * 1_024

/**
 * Asks the endpoints in their order until one is healthy. When none does, the first that exists (is not 404) is the
 * one to judge, or else the first of all.
 *
 * @returns every endpoint that was asked, and which of them counts
 * @throws OutboundError when an endpoint comes to no answer
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

/** What answers at the image's own addresses, and not as it does, answers so at any: that says nothing of a tag server. */
const saysElse = ({ answer: { status, body } }: EndpointAnswer): boolean =>
  status >= 200 && status < 300 && body.trim() !== ''

/** A failing server fails everywhere, and should not be asked three times for it. */
const mayBeElsewhere = ({ status }: OutboundAnswer): boolean => status === 404 || (status >= 200 && status < 300)

export const healthAnswer = ({ timings, ...answer }: OutboundAnswer): HealthAnswer => ({
  ...answer,
  totalMs: timings.total,
})

const hostOf = (url: string): string => URL.parse(url)?.host ?? 'the address'

/**
 * What it means that the target of a check came to no answer: it is down for those who need it, unless it could not even
 * be asked.
 *
 * @throws what was thrown, when it is no OutboundError
 */
export function targetFailure(check: string, url: string, thrown: unknown, timeoutMs: number): CheckFinding {
  const failure = asOutboundError(thrown)
  const { kind, message } = failure
  if (isOurs(failure)) return { check, status: 'error', message: `${hostOf(url)} cannot be checked: ${message}` }
  // The signal of the run is the limit that strikes first, and all that it can say is that no one waits any more.
  if (kind === 'aborted') return { check, status: 'critical', message: timedOut(url, timeoutMs) }
  return { check, status: 'critical', message }
}

const timedOut = (url: string, timeoutMs: number): string => `${hostOf(url)} did not answer within ${timeoutMs} ms`

/**
 * What it means that a provider who knows about the target came to no answer: nothing about the target.
 *
 * @param who as in `the API of the hosting provider`
 * @throws what was thrown, when it is no OutboundError
 */
export function providerFailure(check: string, who: string, thrown: unknown, timeoutMs: number): CheckFinding {
  const { kind, message } = asOutboundError(thrown)
  const why = kind === 'aborted' ? `it did not answer within ${timeoutMs} ms` : message
  return { check, status: 'error', message: `${who} could not be reached: ${why}` }
}

/** For the details of a result: the kind of failure, the phase it struck in, the certificate that was not accepted. */
export function failureDetails(thrown: unknown) {
  const { kind, phase, certificate } = asOutboundError(thrown)
  return { kind, phase, certificate: certificateDetails(certificate) }
}

function asOutboundError(thrown: unknown): OutboundError {
  if (thrown instanceof OutboundError) return thrown
  throw thrown
}
