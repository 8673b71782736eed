import { OutboundError } from './error.ts'
import { parseTarget, type Target } from './target.ts'

export type OutboundMethod = 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** One request as it goes over one connection. Header names are lower-cased. */
export interface Hop {
  target: Target
  method: OutboundMethod
  headers: Readonly<Record<string, string>>
  body: string | Uint8Array | null
}

/** Headers that say nothing about who asks; only these follow to another origin. */
const SAFE_HEADERS: ReadonlySet<string> = new Set([
  'accept',
  'accept-encoding',
  'accept-language',
  'cache-control',
  'user-agent',
])
const BODY_HEADERS: ReadonlySet<string> = new Set(['content-type', 'content-encoding', 'content-language'])

/** Where an answer sends its reader; null when it does not, or says so in a way that means nothing. */
export function redirectLocation(status: number, location: string | undefined, from: URL): string | null {
  if (location === undefined || ![301, 302, 303, 307, 308].includes(status)) return null
  return URL.parse(location, from.href)?.href ?? null
}

/**
 * The request that follows a redirect. All headers of the caller are left behind when the origin changes, except those
 * that say nothing about who asks: any of the others may be a key.
 *
 * @throws OutboundError of kind `bad_url`; of kind `redirect_refused` where following would take https to http without
 *   leave, or hand a body that was meant for one origin to another
 */
export function nextHop(hop: Hop, status: number, location: string, allowsDowngrade: boolean): Hop {
  const target = parseTarget(location)
  const [from, to] = [hop.target, target]
  if (from.isSecure && !to.isSecure && !allowsDowngrade) {
    throw refused(`${from.host} redirects from https to http, which is not followed`)
  }
  const isSameOrigin = from.url.origin === to.url.origin
  const dropsBody = turnsIntoGet(status, hop.method)
  if (hop.body !== null && !dropsBody && !isSameOrigin) {
    throw refused(`${from.host} redirects what was sent to it to ${to.host}, which is not followed`)
  }
  const keeps = (name: string) => (isSameOrigin || SAFE_HEADERS.has(name)) && !(dropsBody && BODY_HEADERS.has(name))
  return {
    target,
    method: dropsBody ? 'GET' : hop.method,
    headers: Object.fromEntries(Object.entries(hop.headers).filter(([name]) => keeps(name))),
    body: dropsBody ? null : hop.body,
  }
}

/** As browsers do: 303 always asks for another page, and 301 and 302 have come to mean the same after a POST. */
const turnsIntoGet = (status: number, method: OutboundMethod): boolean =>
  status === 303 ? method !== 'GET' && method !== 'HEAD' : status < 303 && method === 'POST'

const refused = (message: string): OutboundError => new OutboundError('redirect_refused', message)
