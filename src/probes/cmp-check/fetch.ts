import { isOurs, type Outbound, type OutboundBytes, OutboundError } from '../../outbound/index.ts'
import { CHALLENGES, challengeIn, challengeInHeaders, startsPage } from '../tag-server/challenge.ts'
import { bodyOf, type FetchedBody } from '../types/fetched-body.ts'
import { CookieJar } from './cookies.ts'
import type { Page } from './page.ts'

const PAGE_BYTES = 2 * 1_024 * 1_024
const SCRIPT_BYTES = 64 * 1_024
const MAX_REDIRECTS = 5
/** The longest possible host name. */
const HOST_MAX = 253

export interface FetchTools {
  outbound: Outbound
  userAgent: string
  signal: AbortSignal
  /** For one request with its redirects, ms. */
  timeoutMs: number
}

type FetchedPage =
  | { kind: 'answer'; answer: OutboundBytes; tookMs: number }
  /** It redirects to another site, which is not requested. */
  | { kind: 'elsewhere'; to: string; tookMs: number }
  | { kind: 'failed'; why: string; thrown: OutboundError }

/** Requests a page as a browser would, and follows redirects within the site. */
export async function fetchPage(
  { outbound, userAgent, signal, timeoutMs }: FetchTools,
  url: string,
): Promise<FetchedPage> {
  let tookMs = 0
  let address = url
  const jar = new CookieJar()
  try {
    for (let redirects = 0; ; redirects++) {
      const answer = await outbound.fetchBytes(address, {
        headers: {
          'user-agent': userAgent,
          accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
          'accept-language': 'en;q=0.9,*;q=0.5',
          'upgrade-insecure-requests': '1',
          ...jar.headerFor(address),
        },
        limits: { totalMs: timeoutMs - tookMs, bodyBytes: PAGE_BYTES },
        signal,
      })
      tookMs += answer.timings.total
      if (answer.location === null) return { kind: 'answer', answer, tookMs }
      jar.keep(address, answer.headers['set-cookie'] ?? '')
      const to = new URL(answer.location)
      if (to.host === '') {
        const why = 'it redirects to something that is not a web page'
        return { kind: 'failed', why, thrown: new OutboundError('redirect_refused', why) }
      }
      if (!isSameSite(new URL(address), to)) return { kind: 'elsewhere', to: to.host.slice(0, HOST_MAX), tookMs }
      if (redirects === MAX_REDIRECTS || timeoutMs - tookMs < 1) {
        const why = redirects === MAX_REDIRECTS ? `it redirects more than ${MAX_REDIRECTS} times` : 'it takes too long'
        return { kind: 'failed', why, thrown: new OutboundError('too_many_redirects', why) }
      }
      address = to.href
    }
  } catch (thrown) {
    return { kind: 'failed', ...failure(thrown) }
  }
}

/** The answer to the request for a script. `body` is null unless it is one, with status 200. */
export interface FetchedScript {
  url: string
  status: number | null
  body: FetchedBody | null
  why: string | null
  /** Says nothing about visitors: the run was over, this process had no room, the address is forbidden, or a bot protection answered. */
  isOurs: boolean
}

/** @param referer the page that loads it: some providers answer only for known sites */
export async function fetchScript(
  { outbound, userAgent, signal, timeoutMs }: FetchTools,
  url: string,
  referer: string | null,
  isWhole: boolean,
): Promise<FetchedScript> {
  try {
    const answer = await outbound.fetchBytes(url, {
      headers: { 'user-agent': userAgent, ...(referer === null ? {} : { referer }) },
      maxRedirects: MAX_REDIRECTS,
      limits: { totalMs: timeoutMs, bodyBytes: isWhole ? PAGE_BYTES : SCRIPT_BYTES },
      signal,
    })
    const { status } = answer
    const body = startOf(answer)
    const challenge = challengeIn({ status, headers: answer.headers, body })
    const why = challenge === null ? faultOf(status, body) : `${challenge} blocks the check as a bot`
    return { url, status, body: why === null ? bodyOf(answer) : null, why, isOurs: challenge !== null }
  } catch (thrown) {
    const { why, thrown: error } = failure(thrown)
    return { url, status: null, body: null, why, isOurs: error.kind === 'aborted' || isOurs(error) }
  }
}

const startOf = ({ bytes }: OutboundBytes): string => new TextDecoder().decode(bytes.subarray(0, SCRIPT_BYTES))

/** A server whose files have moved may answer every address with the same page. */
function faultOf(status: number, body: string): string | null {
  if (status !== 200) return `it answers ${status}`
  return startsPage(body) ? 'it answers with a web page instead of a script' : null
}

function failure(thrown: unknown): { why: string; thrown: OutboundError } {
  if (!(thrown instanceof OutboundError)) throw thrown
  const why = thrown.kind === 'aborted' ? 'it did not answer before the check timed out' : thrown.message
  return { why, thrown }
}

/**
 * Whether a redirect stays on the site: http to https, with or without `www.`, to a parent or a subdomain. Siblings may
 * belong to others (`a.co.uk`, `b.co.uk`).
 */
export function isSameSite(from: URL, to: URL): boolean {
  const [a, b] = [from, to].map(({ hostname }) => hostname.toLowerCase().replace(/^www\./, ''))
  if (a === undefined || b === undefined) return false
  return a === b || isBelow(a, b) || isBelow(b, a)
}

const isBelow = (name: string, domain: string): boolean => domain.includes('.') && name.endsWith(`.${domain}`)

/** Returns the vendor of the challenge that the page consists of; null when it is none. */
function challengeOf(
  status: number,
  headers: Readonly<Record<string, string>>,
  page: Page,
  words: ReadonlySet<string>,
): string | null {
  const byHeader = challengeInHeaders(status, headers)
  if (byHeader !== null) return byHeader
  const byPage = CHALLENGES.find(
    ({ titles, hasScript, hasFrame, sendsTo, words: names = [] }) =>
      titles?.test(page.title.trim()) === true ||
      (hasScript !== undefined && page.scripts.some(({ src }) => src !== null && hasScript(src))) ||
      (hasFrame !== undefined && page.otherUrls.some(hasFrame)) ||
      (sendsTo !== undefined && page.forwardsTo !== null && sendsTo(page.forwardsTo)) ||
      names.some((name) => words.has(name)),
  )
  return byPage?.name ?? null
}

/** Why an answer cannot be checked as a page. */
export interface Refusal {
  status: 'error' | 'critical'
  message: string
  details: { reason: string; status: number; by?: string }
}

/** Statuses that a site sends to some visitors and not to others. */
const BLOCKED = [401, 403, 407, 429, 451]

/** @param words identifiers in the page's inline scripts */
export function refusalOf(
  status: number,
  headers: Readonly<Record<string, string>>,
  page: Page,
  words: ReadonlySet<string>,
): Refusal | null {
  const challenge = challengeOf(status, headers, page, words)
  if (challenge !== null) {
    const message = `${challenge} blocks the check as a bot: allow it there, or set user_agent`
    return { status: 'error', message, details: { reason: 'challenge', by: challenge, status } }
  }
  if (BLOCKED.includes(status)) {
    const message = `The page blocks the check: it answers ${status}`
    return { status: 'error', message, details: { reason: 'blocked', status } }
  }
  if (status >= 200 && status < 300) return null
  const message = `The page cannot be read: it answers ${status}`
  return { status: 'critical', message, details: { reason: 'bad_status', status } }
}
