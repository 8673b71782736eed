import { duration, fieldsOf, isoTime, MINUTE, parseForeignJson, SECOND } from '../../lib/index.ts'
import type { OutboundAnswer } from '../../outbound/index.ts'
import { type Json, type JsonObject, type ProbeOutcome, RESULT_STATUSES, type ResultStatus } from '../probe-type.ts'
import { type HealthEndpoint, shownAddress } from './addresses.ts'
import { challengeIn, challengeMessage, startsPage } from './challenge.ts'

/** The judged parts of an endpoint's answer. */
export interface HealthAnswer extends Pick<OutboundAnswer, 'status' | 'headers' | 'body' | 'isTruncated' | 'location'> {
  url: string
  totalMs: number
}

export interface AnswerLimits {
  /** Empty = 200 to 299. */
  expected_status: readonly number[]
  /** Text that the body must contain; undefined = the answer of a tag server. */
  expected_body?: string
  /** 0 = never slow. */
  slow_ms: number
}

export function judgeAnswer(endpoint: HealthEndpoint, answer: HealthAnswer, limits: AnswerLimits): CheckFinding[] {
  const status = judgeStatus(answer, limits)
  if (status.status !== 'ok') return [status]
  return [status, judgeBody(endpoint, answer, limits), judgeSpeed(answer, limits), ...judgeAge(endpoint, answer)]
}

/** Whether this endpoint shows the server's health. */
export const isHealthy = (endpoint: HealthEndpoint, answer: HealthAnswer, limits: AnswerLimits): boolean =>
  judgeStatus(answer, limits).status === 'ok' && judgeBody(endpoint, answer, limits).status === 'ok'

function judgeStatus(answer: HealthAnswer, { expected_status: expected }: AnswerLimits): CheckFinding {
  const { url, status, location, totalMs } = answer
  const isExpected = expected.length === 0 ? status >= 200 && status < 300 : expected.includes(status)
  const where = shownAddress(url)
  const challenge = expected.includes(status) ? null : challengeIn(answer)
  if (challenge !== null)
    return { check: 'status', status: 'error', message: challengeMessage(challenge, where, status) }
  if (isExpected) return { check: 'status', status: 'ok', message: `${where} answered ${status} in ${totalMs} ms` }
  const wanted = expected.length === 0 ? '' : `, expected ${expected.join(' or ')}`
  const message =
    location === null
      ? `${where} answered ${status} in ${totalMs} ms${wanted}${expected.length === 0 ? statusHint(status) : ''}`
      : `${where} redirects (${status}) to ${redirectWords(url, location, wanted)}`
  return { check: 'status', status: 'critical', message }
}

const redirectWords = (from: string, to: string, wanted: string): string =>
  to === from.replace(/^http:/, 'https:')
    ? `https${wanted}: set tag_server_url to an address that begins with https://`
    : `${shownAddress(to)}${wanted}, but a tag server should answer itself`

/** Where to look, by a status that is none of a tag server's own; empty when it says nothing. */
export function statusHint(status: number): string {
  if (status === 404) return ': no tag server is at this address, or its path is wrong'
  if (status === 401 || status === 403 || status === 405 || status === 429) {
    return ': something in front of the container refuses it, such as a CDN or a firewall'
  }
  return status >= 500 ? ': the tag server or something in front of it fails' : ''
}

function judgeBody(
  endpoint: HealthEndpoint,
  answer: HealthAnswer,
  { expected_body: expected }: AnswerLimits,
): CheckFinding {
  const where = shownAddress(answer.url)
  if (expected !== undefined) {
    if (answer.body.includes(expected)) return fine(where)
    const text = JSON.stringify(expected)
    // The unread rest may contain it.
    return answer.isTruncated
      ? { check: 'body', status: 'error', message: `${text} is not in the first 1 MB of ${where}, and no more is read` }
      : { check: 'body', status: 'critical', message: `the answer of ${where} does not contain ${text}` }
  }
  const isUnexpected = endpoint.isOwn ? !isHealthText(answer.body) : isHtml(answer)
  if (!isUnexpected) return fine(where)
  const what = isHtml(answer) ? 'a web page' : 'something else'
  const message = `${where} answered ${answer.status} with ${what} instead of "ok": another server may be answering for the host`
  return { check: 'unexpected_body', status: 'warning', message }
}

const fine = (where: string): CheckFinding => ({
  check: 'body',
  status: 'ok',
  message: `${where} answered as expected`,
})

/** Images answer `ok` and, according to one guide, `{"success":true}`. Gateways that found no server also answer with an object. */
function isHealthText(body: string): boolean {
  const text = body.trim()
  if (/^"?ok"?$/i.test(text)) return true
  const { status, success, ok, healthy } = fieldsOf(parseForeignJson(text))
  return [status, success, ok, healthy].some((said) => /^(true|ok|up|healthy|success)$/i.test(String(said)))
}

const isHtml = ({ headers, body }: HealthAnswer): boolean =>
  /html/i.test(headers['content-type'] ?? '') ? !isHealthText(body) && !/^\s*\{/.test(body) : startsPage(body)

function judgeSpeed({ url, totalMs }: HealthAnswer, { slow_ms: slow }: AnswerLimits): CheckFinding {
  const isSlow = slow > 0 && totalMs > slow
  return {
    check: 'speed',
    status: isSlow ? 'warning' : 'ok',
    message: `${shownAddress(url)} took ${totalMs} ms to answer, ${isSlow ? 'more than' : 'at most'} ${slow} ms${isSlow ? '' : ' is fine'}`,
  }
}

/** The longest time that a cache may have kept an answer. */
const OLDEST_MS = MINUTE

/** A cache also answers while the tag server is down. At addresses other than the image's own, people may want the cache's answer. */
function judgeAge({ isOwn }: HealthEndpoint, { url, headers }: HealthAnswer): CheckFinding[] {
  const { age = '' } = headers
  const oldMs = /^\d{1,9}$/.test(age) ? Number(age) * SECOND : 0
  if (!isOwn || oldMs <= OLDEST_MS) return []
  const message = `${shownAddress(url)} was answered by a cache, with an answer that is ${duration(oldMs)} old: it does not show whether the tag server is up`
  return [{ check: 'cached_answer', status: 'warning', message }]
}

/** The result of one check. */
export interface CheckFinding {
  /** Name of the check, e.g. `certificate`. */
  readonly check: string
  readonly status: ResultStatus
  /** One sentence for people, with the numbers that decided. */
  readonly message: string
}

const rank = ({ status }: CheckFinding): number => RESULT_STATUSES.indexOf(status)

const isBad = ({ status }: CheckFinding): boolean => status !== 'ok'

/** The findings that are not fine, worst first. */
export const badFindings = (findings: readonly CheckFinding[]): CheckFinding[] =>
  findings.filter(isBad).toSorted((a, b) => rank(a) - rank(b))

/** The worst finding determines status and message. */
export function judged(findings: readonly CheckFinding[], whenFine: string): Pick<ProbeOutcome, 'status' | 'message'> {
  const [worst, ...others] = badFindings(findings)
  if (worst === undefined) return { status: 'ok', message: whenFine }
  const more = others.length === 0 ? '' : ` (and ${others.length} more)`
  return { status: worst.status, message: `${worst.message}${more}` }
}

/** Since when a probe has had its status, epoch ms. Kept in its memory as `standing` and shown in its details. */
interface StatusSince {
  readonly status: ResultStatus
  readonly since: number
}

export function statusSince(memory: JsonObject, status: ResultStatus, now: number): StatusSince {
  const before = objectIn(memory.standing)
  return { status, since: before.status === status && typeof before.since === 'number' ? before.since : now }
}

export const sinceInMemory = ({ status, since }: StatusSince): JsonObject => ({ status, since })

export const sinceText = ({ since }: StatusSince): string => isoTime(since)

export type { Json, JsonObject }

/** Reads an object from memory, `{}` for anything else: another version of Tagwarden may have written it. */
export const objectIn = (value: Json | undefined): JsonObject => fieldsOf(value) as JsonObject
