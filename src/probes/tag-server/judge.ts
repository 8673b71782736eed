import type { OutboundAnswer } from '../../outbound/index.ts'
import { type HealthEndpoint, shownAddress } from './addresses.ts'
import type { CheckFinding } from './check-finding.ts'

/** What was answered at an endpoint, as far as it is judged. */
export interface HealthAnswer extends Pick<OutboundAnswer, 'status' | 'headers' | 'body' | 'location'> {
  url: string
  totalMs: number
}

export interface AnswerLimits {
  /** Empty = every status from 200 to 299. */
  expected_status: readonly number[]
  /** What the body has to hold; undefined = what a tag server answers. */
  expected_body?: string
  /** 0 = never slow. */
  slow_ms: number
}

export function judgeAnswer(endpoint: HealthEndpoint, answer: HealthAnswer, limits: AnswerLimits): CheckFinding[] {
  const status = judgeStatus(answer, limits)
  return status.status === 'ok' ? [status, judgeBody(endpoint, answer, limits), judgeSpeed(answer, limits)] : [status]
}

/** Whether this is the server's health endpoint. */
export const isHealthy = (endpoint: HealthEndpoint, answer: HealthAnswer, limits: AnswerLimits): boolean =>
  judgeStatus(answer, limits).status === 'ok' && judgeBody(endpoint, answer, limits).status === 'ok'

function judgeStatus(answer: HealthAnswer, { expected_status: expected }: AnswerLimits): CheckFinding {
  const { url, status, location, totalMs } = answer
  const isExpected = expected.length === 0 ? status >= 200 && status < 300 : expected.includes(status)
  const where = shownAddress(url)
  if (isExpected) return { check: 'status', status: 'ok', message: `${where} answered ${status} in ${totalMs} ms` }
  const wanted = expected.length === 0 ? '' : `, expected ${expected.join(' or ')}`
  const message =
    location === null
      ? `${where} answered ${status} in ${totalMs} ms${wanted}`
      : `${where} redirects (${status}) to ${shownAddress(location)}${wanted}: a tag server answers itself`
  return { check: 'status', status: 'critical', message }
}

function judgeBody(
  endpoint: HealthEndpoint,
  answer: HealthAnswer,
  { expected_body: expected }: AnswerLimits,
): CheckFinding {
  const where = shownAddress(answer.url)
  if (expected !== undefined) {
    return answer.body.includes(expected)
      ? fine(where)
      : {
          check: 'body',
          status: 'critical',
          message: `the answer of ${where} does not hold ${JSON.stringify(expected)}`,
        }
  }
  const isUnexpected = endpoint.isOwn ? !isHealthText(answer.body) : isHtml(answer)
  if (!isUnexpected) return fine(where)
  const what = isHtml(answer) ? 'a web page' : 'something else'
  const message = `${where} answered ${answer.status} with ${what} instead of "ok": another server may answer for the host`
  return { check: 'unexpected_body', status: 'warning', message }
}

const fine = (where: string): CheckFinding => ({
  check: 'body',
  status: 'ok',
  message: `${where} answered as expected`,
})

/** What images answer: `ok`, and by one guide a small JSON object. */
function isHealthText(body: string): boolean {
  const text = body.trim()
  return /^"?ok"?$/i.test(text) || (text.startsWith('{') && text.endsWith('}'))
}

const isHtml = ({ headers, body }: HealthAnswer): boolean =>
  /html/i.test(headers['content-type'] ?? '') ? !isHealthText(body) : /^\s*<(!doctype|html|head|body)\b/i.test(body)

function judgeSpeed({ url, totalMs }: HealthAnswer, { slow_ms: slow }: AnswerLimits): CheckFinding {
  const isSlow = slow > 0 && totalMs > slow
  return {
    check: 'speed',
    status: isSlow ? 'warning' : 'ok',
    message: `${shownAddress(url)} took ${totalMs} ms to answer, ${isSlow ? 'more than' : 'of at most'} ${slow} ms`,
  }
}
