import type { CertificateFacts, OutboundTimings } from '../../outbound/index.ts'
import { type HealthEndpoint, shownAddress, urlAt } from './addresses.ts'
import {
  askHealth,
  type EndpointAnswer,
  failureDetails,
  healthAnswer,
  type RequestTools,
  targetFailure,
} from './ask.ts'
import { type CertificateLimits, certificateDetails, judgeCertificate } from './certificate.ts'
import type { CheckFinding } from './check-finding.ts'
import { type AnswerLimits, isHealthy, judgeAnswer } from './judge.ts'

/** The answer of a tag server about its health. */
export interface HealthCheck {
  findings: readonly CheckFinding[]
  /** What is said when nothing is wrong. */
  summary: string
  details: Readonly<Record<string, unknown>>
  /** Until the answer was read, ms; null without one. */
  totalMs: number | null
  certificate: CertificateFacts | null
  /** Where all is well; null where nothing is. */
  workingPath: string | null
  /** What the request failed with; undefined when there is an answer. */
  failure: unknown
}

export async function checkHealth(
  tools: RequestTools,
  tagServerUrl: string,
  endpoints: readonly HealthEndpoint[],
  limits: AnswerLimits & CertificateLimits,
): Promise<HealthCheck> {
  try {
    const { asked, chosen } = await askHealth(tools, tagServerUrl, endpoints, limits)
    return readHealth(asked, chosen, limits)
  } catch (failure) {
    const first = endpoints[0]?.path ?? '/'
    return {
      findings: [targetFailure('answer', urlAt(tagServerUrl, first), failure, tools.timeoutMs)],
      summary: '',
      details: { path: first, failure: failureDetails(failure) },
      totalMs: null,
      certificate: null,
      workingPath: null,
      failure,
    }
  }
}

function readHealth(
  asked: readonly EndpointAnswer[],
  { endpoint, answer }: EndpointAnswer,
  limits: AnswerLimits & CertificateLimits,
): HealthCheck {
  const { url, status, certificate, timings, location } = answer
  const findings = [
    ...judgeAnswer(endpoint, healthAnswer(answer), limits),
    ...judgeCertificate(new URL(url).host, certificate, limits),
  ]
  const isUnexpected = findings.some(({ check, status }) => check === 'unexpected_body' && status !== 'ok')
  const left = certificate === null ? '' : `; its certificate has ${certificate.daysLeft} days left`
  return {
    findings,
    summary: `${shownAddress(url)} answered ${status} in ${timings.total} ms${left}`,
    details: {
      path: endpoint.path,
      status,
      ...(location === null ? {} : { redirects_to: shownAddress(location) }),
      ...(isUnexpected ? { body_start: startOf(answer.body) } : {}),
      tried: asked.map((one) => ({ path: one.endpoint.path, status: one.answer.status })),
      timings: timingDetails(timings),
      certificate: certificateDetails(certificate),
    },
    totalMs: timings.total,
    certificate,
    workingPath: isHealthy(endpoint, healthAnswer(answer), limits) ? endpoint.path : null,
    failure: undefined,
  }
}

/** Enough of a page to recognise whose it is. */
const startOf = (body: string): string => body.slice(0, 500).replace(/\s+/g, ' ').trim().slice(0, 120)

/** How long each part of a request took, as details show it: whole ms, null for what did not happen. */
const timingDetails = ({ dns, connect, tls, firstByte, total }: OutboundTimings) => ({
  dns_ms: dns,
  connect_ms: connect,
  tls_ms: tls,
  first_byte_ms: firstByte,
  total_ms: total,
})
