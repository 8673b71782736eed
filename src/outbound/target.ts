import { isIP } from 'node:net'
import { withoutRootDot } from './allow.ts'
import { OutboundError } from './error.ts'

/** Servers accept no longer ones, but a redirect may have any length. */
const MAX_URL = 8_192
/** RFC 1035, plus a trailing dot. */
const MAX_HOST = 254

/** Where one request goes, parsed from its URL. */
export interface Target {
  url: URL
  /** Host name in ASCII without a trailing dot, or address without brackets. */
  host: string
  isAddress: boolean
  port: number
  isSecure: boolean
}

/**
 * Parses a URL as it will be requested: the URL standard turns every odd spelling of a host (`0x7f.1`, `2130706433`, full-width
 * digits) into the one that is checked and connected to.
 *
 * @throws OutboundError of kind `bad_url`
 */
export function parseTarget(text: string): Target {
  const url = URL.parse(text)
  if (url === null) throw badUrl('this is not a complete address like https://www.example.com/path')
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw badUrl('only http and https are supported')
  if (url.username !== '' || url.password !== '') throw badUrl('the address must not contain a user name or password')
  const isSecure = url.protocol === 'https:'
  const port = url.port === '' ? (isSecure ? 443 : 80) : Number(url.port)
  if (BAD_PORTS.has(port)) throw badUrl(`port ${port} is not a web server's port`)
  if (url.href.length > MAX_URL) throw badUrl(`the address is longer than ${MAX_URL} characters`)
  if (url.hostname.length > MAX_HOST) throw badUrl('its host name is longer than names can be')
  const host = withoutRootDot(url.hostname.replace(/^\[|\]$/g, ''))
  return { url, host, isAddress: isIP(host) !== 0, port, isSecure }
}

const badUrl = (message: string): OutboundError => new OutboundError('bad_url', message)

/**
 * Ports of services that would take an HTTP request for their own protocol, such as a mail server for a message: the list of the
 * fetch standard (https://fetch.spec.whatwg.org/#port-blocking), which every browser applies.
 */
const BAD_PORTS: ReadonlySet<number> = new Set([
  0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104, 109, 110,
  111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515, 526, 530, 531, 532,
  540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061,
  6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
])

export type OutboundMethod = 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** One request over one connection. Header names are lower-cased. */
export interface Hop {
  target: Target
  method: OutboundMethod
  headers: Readonly<Record<string, string>>
  body: string | Uint8Array | null
}

/** Headers that reveal nothing about the caller; only these are sent to another origin. */
const SAFE_HEADERS: ReadonlySet<string> = new Set([
  'accept',
  'accept-encoding',
  'accept-language',
  'cache-control',
  'user-agent',
])
const BODY_HEADERS: ReadonlySet<string> = new Set(['content-type', 'content-encoding', 'content-language'])

/** Where a redirect leads; null when the answer is none, or its location is not a valid URL. */
export function redirectLocation(status: number, location: string | undefined, from: URL): string | null {
  if (location === undefined || ![301, 302, 303, 307, 308].includes(status)) return null
  return URL.parse(location, from.href)?.href ?? null
}

/**
 * The request that follows a redirect. When the origin changes, all headers of the caller are dropped except `SAFE_HEADERS`,
 * because any other may be a key.
 *
 * @throws OutboundError of kind `bad_url`; of kind `redirect_refused` when it would go from https to http without permission, or
 * send a body meant for one origin to another
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
