import type { Outbound, OutboundAnswer } from '../../lib/index.ts'
import { type HealthEndpoint, urlAt } from './addresses.ts'
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
  for (const endpoint of endpoints) {
    const answer = await outbound.request(urlAt(tagServerUrl, endpoint.path), {
      limits: { totalMs: timeoutMs, bodyBytes: BODY_BYTES },
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

/** A failing server fails everywhere, and should not be asked three times for it. */
const mayBeElsewhere = ({ status }: OutboundAnswer): boolean => status === 404 || (status >= 200 && status < 300)

export const healthAnswer = ({ url, status, headers, body, location, timings }: OutboundAnswer): HealthAnswer => ({
  url,
  status,
  headers,
  body,
  location,
  totalMs: timings.total,
})
