import { type Outbound, type OutboundBytes, OutboundError } from '../../../outbound/index.ts'
import { bodyOf, type FetchedBody } from '../pages.ts'

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
      if (!isSameSite(new URL(address), to)) return { kind: 'elsewhere', to: to.host.slice(0, HOST_MAX), tookMs }
      if (redirects === MAX_REDIRECTS || timeoutMs - tookMs < 1) {
        const why = redirects === MAX_REDIRECTS ? `it redirects more than ${MAX_REDIRECTS} times` : 'it takes too long'
        return { kind: 'failed', why, thrown: new OutboundError('too_many_redirects', why) }
      }
      address = to.href
    }
  } catch (thrown) {
    return { kind: 'failed', ...failure(thrown, timeoutMs) }
  }
}

/** The answer to the request for a script. `body` is null when it was not answered with 200. */
export interface FetchedScript {
  url: string
  status: number | null
  body: FetchedBody | null
  why: string | null
  /** It was not asked to the end, as the run was over. */
  isAborted: boolean
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
      isAborted: false,
    }
  } catch (thrown) {
    const { why, thrown: error } = failure(thrown, timeoutMs)
    return { url, status: null, body: null, why, isAborted: error.kind === 'aborted' }
  }
}

function failure(thrown: unknown, timeoutMs: number): { why: string; thrown: OutboundError } {
  if (!(thrown instanceof OutboundError)) throw thrown
  const why = thrown.kind === 'aborted' ? `it did not answer within ${timeoutMs} ms` : thrown.message
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
