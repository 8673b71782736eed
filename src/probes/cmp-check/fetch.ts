import { isOurs, type Outbound, type OutboundBytes, OutboundError } from '../../outbound/index.ts'
import { bodyOf, type FetchedBody } from '../types/fetched-body.ts'
import type { Page } from './page.ts'

const PAGE_BYTES = 2 * 1_024 * 1_024
const SCRIPT_BYTES = 64 * 1_024
const MAX_REDIRECTS = 5
/** The longest name there is. */
const HOST_MAX = 253

export interface FetchTools {
  outbound: Outbound
  userAgent: string
  signal: AbortSignal
  /** For one request and its redirects, ms. */
  timeoutMs: number
}

type FetchedPage =
  | { kind: 'answer'; answer: OutboundBytes; tookMs: number }
  /** Sent on to another site, which is not asked. */
  | { kind: 'elsewhere'; to: string; tookMs: number }
  | { kind: 'failed'; why: string; thrown: OutboundError }

/** Asks for a page as a browser would, and follows it within the site. */
export async function fetchPage(
  { outbound, userAgent, signal, timeoutMs }: FetchTools,
  url: string,
): Promise<FetchedPage> {
  let tookMs = 0
  let address = url
  try {
    for (let redirects = 0; ; redirects++) {
      const answer = await outbound.fetchBytes(address, {
        headers: {
          'user-agent': userAgent,
          accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
          'accept-language': 'en;q=0.9,*;q=0.5',
          'upgrade-insecure-requests': '1',
        },
        limits: { totalMs: timeoutMs - tookMs, bodyBytes: PAGE_BYTES },
        signal,
      })
      tookMs += answer.timings.total
      if (answer.location === null) return { kind: 'answer', answer, tookMs }
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

/** The answer to the request for a script. `body` is null when it was not answered with 200. */
export interface FetchedScript {
  url: string
  status: number | null
  body: FetchedBody | null
  why: string | null
  /** It was not asked to the end: the run was over, this process had no room, or the address is one that it must not ask. */
  isOurs: boolean
}

/** @param referer the page that loads it: some providers answer known sites only */
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
    const isGood = answer.status === 200
    return {
      url,
      status: answer.status,
      body: isGood ? bodyOf(answer) : null,
      why: isGood ? null : `it answers ${answer.status}`,
      isOurs: false,
    }
  } catch (thrown) {
    const { why, thrown: error } = failure(thrown)
    return { url, status: null, body: null, why, isOurs: error.kind === 'aborted' || isOurs(error) }
  }
}

function failure(thrown: unknown): { why: string; thrown: OutboundError } {
  if (!(thrown instanceof OutboundError)) throw thrown
  const why = thrown.kind === 'aborted' ? 'it did not answer before the check timed out' : thrown.message
  return { why, thrown }
}

/**
 * Whether a redirect stays with the site: http to https, with and without `www.`, a name above or below. Names beside one another
 * may belong to others (`a.co.uk`, `b.co.uk`).
 */
export function isSameSite(from: URL, to: URL): boolean {
  const [a, b] = [from, to].map(({ hostname }) => hostname.toLowerCase().replace(/^www\./, ''))
  if (a === undefined || b === undefined) return false
  return a === b || isBelow(a, b) || isBelow(b, a)
}

const isBelow = (name: string, domain: string): boolean => domain.includes('.') && name.endsWith(`.${domain}`)

/** What of an address comes after this text; empty when it is not in it. */
const after = (mark: string, address: string): string => {
  const at = address.indexOf(mark)
  return at === -1 ? '' : address.slice(at + mark.length)
}

interface Challenge {
  name: string
  titles?: RegExp
  /** Of one script of the page. */
  hasScript?: (address: string) => boolean
  /** Of one frame of the page. */
  hasFrame?: (address: string) => boolean
  words?: readonly string[]
}

const ofImperva = (address: string): string => after('/_Incapsula_Resource', address)

/** Pages that stand in for the real one until a browser has proved to be one. */
const CHALLENGES: readonly Challenge[] = [
  {
    name: 'Cloudflare',
    titles: /^(just a moment|attention required! \| cloudflare|please wait\.\.\. \| cloudflare)/i,
    // Real pages behind Cloudflare have other scripts of this path.
    hasScript: (address) => /chl_page|orchestrate/.test(after('/cdn-cgi/challenge-platform/', address)),
    words: ['_cf_chl_opt'],
  },
  {
    name: 'Imperva',
    // The one that real pages are given has a number of its network besides.
    hasScript: (address) => /[?&]SWJIYLWA=/.test(ofImperva(address)) && !/[?&]ns=/.test(ofImperva(address)),
    hasFrame: (address) => ofImperva(address) !== '',
  },
  { name: 'DataDome', hasScript: (address) => /^https?:\/\/(ct|geo)\.captcha-delivery\.com\//.test(address) },
  // Real pages name its `_pxAppId` too.
  { name: 'HUMAN', titles: /^access to this page has been denied/i, words: ['_pxUuid', '_pxBlockedUrl'] },
  {
    name: 'AWS WAF',
    // Real pages load one from `sdk.awswaf.com`.
    hasScript: (address) => `/${after('.token.awswaf.com/', address)}`.includes('/challenge.js'),
    words: ['gokuProps'],
  },
]

/** Every word of them. */
export const CHALLENGE_WORDS: readonly string[] = CHALLENGES.flatMap(({ words = [] }) => words)

/** Headers by which a challenge names itself. */
const HEADERS: readonly { name: string; header: string; value: RegExp }[] = [
  { name: 'Cloudflare', header: 'cf-mitigated', value: /challenge/ },
  { name: 'AWS WAF', header: 'x-amzn-waf-action', value: /challenge|captcha/ },
  { name: 'DataDome', header: 'x-datadome', value: /protected/ },
]

/** Whose challenge a page is instead of what it should be; null when it is none. */
function challengeOf(
  status: number,
  headers: Readonly<Record<string, string>>,
  page: Page,
  words: ReadonlySet<string>,
): string | null {
  const byHeader = HEADERS.find(({ header, value }) => value.test(headers[header] ?? ''))
  // DataDome has its header on real pages, too.
  if (byHeader !== undefined && (byHeader.name !== 'DataDome' || status === 403)) return byHeader.name
  const byPage = CHALLENGES.find(
    ({ titles, hasScript, hasFrame, words: names = [] }) =>
      titles?.test(page.title.trim()) === true ||
      (hasScript !== undefined && page.scripts.some(({ src }) => src !== null && hasScript(src))) ||
      (hasFrame !== undefined && page.otherUrls.some(hasFrame)) ||
      names.some((name) => words.has(name)),
  )
  return byPage?.name ?? null
}

/** Why an answer is no page to look at. */
export interface Refusal {
  status: 'error' | 'critical'
  message: string
  details: { reason: string; status: number; by?: string }
}

/** The answers of those who let some visitors in and not others. */
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
    const message = `${challenge} blocks the check as a robot: allow it there, or set user_agent`
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
