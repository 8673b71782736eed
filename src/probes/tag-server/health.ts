import { counted } from '../../lib/index.ts'
import type { CertificateFacts, OutboundAnswer, OutboundTimings } from '../../outbound/index.ts'
import { gtmJsUrl, type HealthEndpoint, shownAddress, urlAt } from './addresses.ts'
import {
  askHealth,
  type EndpointAnswer,
  failureDetails,
  healthAnswer,
  type RequestTools,
  targetFailure,
} from './ask.ts'
import { type CertificateLimits, certificateDetails, judgeCertificate } from './certificate.ts'
import { challengeIn, challengeMessage } from './challenge.ts'
import type { CheckFinding } from './judge.ts'
import { type AnswerLimits, badFindings, isHealthy, judgeAnswer } from './judge.ts'

/** A tag server's answer about its health. */
export interface HealthCheck {
  findings: readonly CheckFinding[]
  /** The message when nothing is wrong. */
  summary: string
  details: Readonly<Record<string, unknown>>
  /** Time until the answer was read, ms; null without an answer. */
  totalMs: number | null
  certificate: CertificateFacts | null
  /** The path that is healthy; null when none is. */
  workingPath: string | null
  /** The error of the request; undefined when there is an answer. */
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
  const isUnexpected = badFindings(findings).some(({ check }) => check === 'unexpected_body' || check === 'status')
  const left = certificate === null ? '' : `; its certificate has ${counted(certificate.daysLeft, 'day')} left`
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

/** Enough of a page to recognise where it comes from. */
const startOf = (body: string): string => body.slice(0, 500).replace(/\s+/g, ' ').trim().slice(0, 120)

/** Duration of each part of a request in the form of details: whole ms, null for parts that did not take place. */
const timingDetails = ({ dns, connect, tls, firstByte, total }: OutboundTimings) => ({
  dns_ms: dns,
  connect_ms: connect,
  tls_ms: tls,
  first_byte_ms: firstByte,
  total_ms: total,
})

/** Whether the tag server serves the web container's script itself. */
interface ProxiedScript {
  isServed: boolean
  /** A bot protection answered instead. */
  isBlocked: boolean
  /** The answer in a few words. */
  answered: string
  details: { url: string; status: number; content_type: string | null }
}

/** The beginning of the script is enough to recognise it. */
const BODY_BYTES = 4 * 1_024
/** Characters kept of the content type; a header may have 64 kB. */
const CONTENT_TYPE_MAX = 200

/** @throws OutboundError when the tag server does not answer */
export async function askGtmJs(
  { outbound, timeoutMs, signal }: RequestTools,
  tagServerUrl: string,
  containerId: string,
): Promise<ProxiedScript> {
  const url = gtmJsUrl(tagServerUrl, containerId)
  const answer = await outbound.request(url, { limits: { totalMs: timeoutMs, bodyBytes: BODY_BYTES }, signal })
  return readGtmJs(url, answer)
}

export function readGtmJs(url: string, answer: Pick<OutboundAnswer, 'status' | 'headers' | 'body'>): ProxiedScript {
  const { status, headers, body } = answer
  const contentType = headers['content-type']?.slice(0, CONTENT_TYPE_MAX) ?? null
  const isScript = /\b(x-)?(java|ecma)script\b/i.test(contentType ?? '') && !/^\s*(<|$)/.test(body)
  const where = shownAddress(url)
  const challenge = challengeIn(answer)
  return {
    isServed: status === 200 && isScript,
    isBlocked: challenge !== null,
    answered:
      challenge !== null
        ? challengeMessage(challenge, where, status)
        : status === 200 && !isScript
          ? `${where} answered 200 without a script (${contentType ?? 'no content type'})`
          : `${where} answered ${status}`,
    details: { url: where, status, content_type: contentType },
  }
}

/** The check for tag servers that must serve gtm.js. */
export async function checkGtmJs(
  tools: RequestTools,
  tagServerUrl: string,
  containerId: string | null,
): Promise<{ findings: readonly CheckFinding[]; details: object | null; failure: unknown }> {
  if (containerId === null) {
    const message = 'the site has no tag_manager_web_container_id, so there is no gtm.js to check'
    return { findings: [{ check: 'gtm_js', status: 'error', message }], details: null, failure: undefined }
  }
  try {
    const { isServed, isBlocked, answered, details } = await askGtmJs(tools, tagServerUrl, containerId)
    const status = isServed ? 'ok' : isBlocked ? 'error' : 'critical'
    return { findings: [{ check: 'gtm_js', status, message: answered }], details, failure: undefined }
  } catch (failure) {
    const url = gtmJsUrl(tagServerUrl, containerId)
    return {
      findings: [targetFailure('gtm_js', url, failure, tools.timeoutMs)],
      details: failureDetails(failure),
      failure,
    }
  }
}
