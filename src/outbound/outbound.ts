import type { Clock } from '../lib/index.ts'
import { unlessAborted } from '../lib/index.ts'
import { hasIpv6, type ListInterfaces, ownAddresses } from './address.ts'
import { type OutboundAllow, requireAllowed } from './allow.ts'
import { BodyBudget, decodeBody } from './body.ts'
import type { CertificateFacts } from './certificate.ts'
import { aliasesOf, type Connecting, lookupAll, type NameFacts, openConnection, systemAliases } from './connect.ts'
import { failureOf, OutboundError } from './error.ts'
import { type Exchanged, exchange, loadUndici } from './exchange.ts'
import { createLookup, type OutboundLookup } from './lookup.ts'
import { type OutboundLimits, type OutboundTimings, RequestTimer } from './request-timer.ts'
import { type Hop, nextHop, type OutboundMethod, parseTarget, redirectLocation } from './target.ts'

export interface OutboundOptions {
  allow: OutboundAllow
  /** Sent as `User-Agent`, unless the request has its own. */
  userAgent: string
  clock: Clock
  /** The system's resolver by default; tests replace it. */
  lookup?: OutboundLookup
  /** Looks up a name's alias (CNAME), by default with the system's DNS servers; tests replace it. */
  lookupAlias?: OutboundLookup
  /** This machine's by default; tests replace it. */
  interfaces?: ListInterfaces
  /** Memory that all bodies being read may take together; 64 MiB by default. */
  bodiesBytes?: number
}

export interface OutboundRequest {
  /** GET by default. */
  method?: OutboundMethod
  headers?: Readonly<Record<string, string>>
  body?: string | Uint8Array
  /** How many redirects to follow, 0 by default; the answer then has the `location`. */
  maxRedirects?: number
  /** Also follows redirects from https to http. */
  allowsDowngrade?: boolean
  /** The head of a 2xx answer is enough: where its body fails or takes too long, the answer has an empty one. */
  isDoneByHead?: boolean
  /** Defaults: 10 s in total, 1 MiB of body. */
  limits?: Partial<OutboundLimits>
  signal?: AbortSignal
}

/** An answer without its body. */
export interface OutboundHead {
  /** The requested URL, or where redirects led. Its query may contain keys. */
  url: string
  status: number
  /** Names in lower case; values of a repeated header joined by commas. */
  headers: Readonly<Record<string, string>>
  /** Whether the body was longer than `limits.bodyBytes`, or failed where the head is enough. */
  isTruncated: boolean
  /** Followed redirects, in order. */
  redirects: readonly { status: number; to: string }[]
  /** The target of a redirect that was not followed. */
  location: string | null
  timings: OutboundTimings
  /** Null without TLS. A certificate that is not accepted fails the request; its OutboundError has the `certificate`. */
  certificate: CertificateFacts | null
}

export interface OutboundAnswer extends OutboundHead {
  body: string
}

/** The decompressed body as bytes: for bodies that are too large or too strange to be read in this thread. */
export interface OutboundBytes extends OutboundHead {
  bytes: Uint8Array<ArrayBuffer>
}

/** Makes requests to addresses that people typed in. */
export interface Outbound {
  /**
   * Makes a request. Each has its own connection: what was checked is what is used, the timings are true, and nothing stays open.
   *
   * @throws OutboundError when there is no answer; a status such as 500 is an answer
   */
  request(url: string, request?: OutboundRequest): Promise<OutboundAnswer>

  /** As `request`, without decoding the body. */
  fetchBytes(url: string, request?: OutboundRequest): Promise<OutboundBytes>

  /**
   * Where a host name leads, for callers that judge it. Does not reveal forbidden addresses either.
   *
   * @throws OutboundError of kind `dns`, `lookup`, `forbidden_address`, `timeout` or `aborted`
   */
  resolve(
    host: string,
    options?: { wantsAliases?: boolean; totalMs?: number; signal?: AbortSignal },
  ): Promise<NameFacts>
}

/** 32 of the largest bodies that probes read. */
const BODIES_BYTES = 64 * 1_024 * 1_024
const DEFAULT_LIMITS: OutboundLimits = { totalMs: 10_000, bodyBytes: 1_024 * 1_024 }

export function createOutbound(options: OutboundOptions): Outbound {
  const { allow, userAgent, clock, lookup = createLookup(), lookupAlias = systemAliases } = options
  const isOwn = ownAddresses(options.interfaces)
  const env: Connecting = { allow, isOwn, hasIpv6: () => hasIpv6(options.interfaces), clock, lookup }
  const budget = new BodyBudget(options.bodiesBytes ?? BODIES_BYTES)
  const fetchBytes: Outbound['fetchBytes'] = async (url, request = {}) => {
    const hop = firstHop(url, request, userAgent)
    await loadUndici()
    const timer = new RequestTimer({ ...DEFAULT_LIMITS, ...request.limits }, request.signal)
    try {
      return await follow(hop, request, timer, env, budget)
    } finally {
      timer.end()
    }
  }
  return {
    fetchBytes,
    async request(url, request) {
      const { bytes, ...head } = await fetchBytes(url, request)
      return { ...head, body: decodeBody({ bytes, isTruncated: head.isTruncated }, head.headers['content-type']) }
    },
    async resolve(host, { wantsAliases = false, totalMs = DEFAULT_LIMITS.totalMs, signal } = {}) {
      const timer = new RequestTimer({ ...DEFAULT_LIMITS, totalMs }, signal)
      timer.startHop(host)
      try {
        const addresses = await timer.during('dns', () => lookupAll(host, timer, lookup))
        requireAllowed(host, addresses, allow, isOwn)
        if (!wantsAliases) return { addresses, aliases: [], knowsAliases: false }
        return { addresses, ...(await unlessAborted(timer.signal, aliasesOf(host, lookupAlias))) }
      } catch (thrown) {
        throw failureOf(timer.signal.aborted ? timer.signal.reason : thrown, timer.phase, host)
      } finally {
        timer.end()
      }
    },
  }
}

function firstHop(url: string, { method = 'GET', headers = {}, body }: OutboundRequest, userAgent: string): Hop {
  const named = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value] as const)
  // A Host header could select another site at an address that was allowed for one.
  if (named.some(([name]) => name === 'host')) {
    throw new OutboundError('bad_request', 'the Host header is that of the address, and cannot be set')
  }
  return {
    target: parseTarget(url),
    method,
    headers: { 'user-agent': userAgent, ...Object.fromEntries(named) },
    body: body ?? null,
  }
}

async function follow(
  first: Hop,
  request: OutboundRequest,
  timer: RequestTimer,
  env: Connecting,
  budget: BodyBudget,
): Promise<OutboundBytes> {
  const { maxRedirects = 0, allowsDowngrade = false } = request
  const redirects: { status: number; to: string }[] = []
  for (let hop = first; ; ) {
    const { url } = hop.target
    const { answer, certificate } = await askOnce(hop, request, timer, env, budget)
    const location = redirectLocation(answer.status, answer.headers.location, url)
    if (location === null || maxRedirects === 0) {
      return {
        url: url.href,
        status: answer.status,
        headers: answer.headers,
        bytes: answer.body?.bytes ?? new Uint8Array(0),
        isTruncated: answer.body?.isTruncated ?? false,
        redirects,
        location,
        timings: timer.timings(),
        certificate,
      }
    }
    if (redirects.length >= maxRedirects) {
      const message = `${hop.target.host} redirects again, after ${redirects.length} redirects that were followed`
      throw new OutboundError('too_many_redirects', message)
    }
    hop = nextHop(hop, answer.status, location, allowsDowngrade)
    redirects.push({ status: answer.status, to: location })
  }
}

async function askOnce(
  hop: Hop,
  { maxRedirects = 0, isDoneByHead = false, limits }: OutboundRequest,
  timer: RequestTimer,
  env: Connecting,
  budget: BodyBudget,
): Promise<{ answer: Exchanged; certificate: CertificateFacts | null }> {
  const { target } = hop
  const maxBytes = limits?.bodyBytes ?? DEFAULT_LIMITS.bodyBytes
  const isBodyWanted = (status: number, { location }: Readonly<Record<string, string>>) =>
    maxRedirects === 0 || redirectLocation(status, location, target.url) === null
  timer.startHop(target.host)
  try {
    const { socket, certificate } = await openConnection(target, timer, env)
    const answer = await exchange(hop, socket, timer, budget, maxBytes, isBodyWanted, isDoneByHead)
    return { answer, certificate }
  } catch (thrown) {
    // After a timeout anything may fail, so the timer's reason is the real one.
    throw failureOf(timer.signal.aborted ? timer.signal.reason : thrown, timer.phase, target.host)
  }
}
