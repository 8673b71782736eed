import { codeOf } from '../lib/index.ts'
import type { CertificateFacts } from './certificate.ts'

/**
 * Why a request failed:
 * - `bad_url`, `bad_request`: it could not be made as requested
 * - `forbidden_address`: it leads to where this server must not connect
 * - `dns`: there is no such name
 * - `lookup`, `refused`, `unreachable`, `tls`, `reset`: the network or the other end did not accept it
 * - `timeout`: `phase` says what took too long
 * - `protocol`: the answer is not valid HTTP
 * - `too_many_redirects`, `redirect_refused`: the other end redirected further than allowed
 * - `aborted`: the caller no longer wants it
 * - `interrupted`: the thread that made it ended, or this process had no room for the answer in time, which says nothing about
 *   the other end; may be tried again
 * - `no_network`: this machine could not send it, as its network is down, a rule on it forbids it, or it has no IPv6
 */
export type OutboundErrorKind =
  | 'bad_url'
  | 'bad_request'
  | 'forbidden_address'
  | 'dns'
  | 'lookup'
  | 'refused'
  | 'unreachable'
  | 'tls'
  | 'reset'
  | 'timeout'
  | 'protocol'
  | 'too_many_redirects'
  | 'redirect_refused'
  | 'aborted'
  | 'interrupted'
  | 'no_network'

/** No one answered at the other end, or there was no way to it: that may be the fault of them, the network or ourselves. */
export const UNREACHED: readonly OutboundErrorKind[] = [
  'dns',
  'lookup',
  'refused',
  'unreachable',
  'tls',
  'reset',
  'timeout',
  'no_network',
]

/** The phases of a request, in order. */
export type OutboundPhase = 'dns' | 'connect' | 'tls' | 'first_byte' | 'body'

interface OutboundErrorDetails {
  cause?: unknown
  /** The phase in which a `timeout`, `reset` or the like occurred. */
  phase?: OutboundPhase
  /** The refused certificate, if that is the reason. */
  certificate?: CertificateFacts
}

/**
 * A failed request. The message is a sentence for people: it names the host, but never the path or query (which may contain
 * keys), nor an address that a name leads to (which would reveal the internal network).
 */
export class OutboundError extends Error {
  readonly kind: OutboundErrorKind
  readonly phase: OutboundPhase | null
  readonly certificate: CertificateFacts | null

  constructor(kind: OutboundErrorKind, message: string, details: OutboundErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause })
    this.name = 'OutboundError'
    this.kind = kind
    this.phase = details.phase ?? null
    this.certificate = details.certificate ?? null
  }
}

/** Whether the failure is about what was requested, or about this process, and says nothing about the other end. */
export const isOurs = ({ kind }: OutboundError): boolean =>
  ['bad_url', 'bad_request', 'forbidden_address', 'interrupted', 'no_network'].includes(kind)

type Explanation = readonly [kind: OutboundErrorKind, words: (host: string) => string]

const NO_NAME: Explanation = ['dns', (host) => `there is no ${host}: its name does not resolve`]
const DNS_FAILED: Explanation = ['lookup', (host) => `the name ${host} could not be looked up`]
const REFUSED: Explanation = ['refused', (host) => `nothing listens at ${host}, on this port`]
const UNREACHABLE: Explanation = ['unreachable', (host) => `${host} cannot be reached from here`]
const CONNECT_TIMEOUT: Explanation = ['timeout', (host) => `${host} does not answer attempts to connect`]
const RESET: Explanation = ['reset', (host) => `${host} closed the connection too early`]
const NETWORK_DOWN: Explanation = ['no_network', (host) => `this server's network is down, so it cannot reach ${host}`]
const FORBIDDEN_HERE: Explanation = [
  'no_network',
  (host) => `this server may not connect to ${host}: a firewall or sandbox on it forbids that`,
]
const BAD_REQUEST: Explanation = ['bad_request', () => 'the method, a header or the body is not allowed in HTTP']
const TLS: Explanation = ['tls', (host) => `${host} and this server could not agree on encryption`]
const ENCODING: Explanation = ['protocol', (host) => `the answer of ${host} is not compressed as it says`]
const PROTOCOL: Explanation = ['protocol', (host) => `the answer of ${host} is not HTTP`]
const HEADERS: Explanation = ['protocol', (host) => `the answer of ${host} begins with more headers than are read`]
const LENGTHS: Explanation = ['protocol', (host) => `the answer of ${host} contradicts itself about its length`]
const UPGRADE: Explanation = ['protocol', (host) => `${host} switches to another protocol without being asked`]
const OUT_OF_TURN: Explanation = ['protocol', (host) => `${host} says something that HTTP does not allow at that point`]

const EXPLANATIONS: Readonly<Record<string, Explanation>> = {
  ENOTFOUND: NO_NAME,
  ENODATA: NO_NAME,
  ECONNREFUSED: REFUSED,
  EHOSTUNREACH: UNREACHABLE,
  ENETUNREACH: UNREACHABLE,
  EHOSTDOWN: UNREACHABLE,
  ENETDOWN: NETWORK_DOWN,
  EACCES: FORBIDDEN_HERE,
  EPERM: FORBIDDEN_HERE,
  ETIMEDOUT: CONNECT_TIMEOUT,
  ECONNRESET: RESET,
  EPIPE: RESET,
  UND_ERR_SOCKET: RESET,
  UND_ERR_CLOSED: RESET,
  UND_ERR_DESTROYED: RESET,
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: LENGTHS,
  UND_ERR_INVALID_ARG: BAD_REQUEST,
  UND_ERR_REQ_CONTENT_LENGTH_MISMATCH: BAD_REQUEST,
  UND_ERR_NOT_SUPPORTED: BAD_REQUEST,
  UND_ERR_HEADERS_OVERFLOW: HEADERS,
}

/** Errors for which undici closes the connection itself, by message: their code is that of a connection closed by the other end. */
const CLOSED_BY_US: Readonly<Record<string, Explanation>> = { 'bad upgrade': UPGRADE, 'bad response': OUT_OF_TURN }

/** File descriptors, memory or ports ran out here. */
const OUT_OF_RESOURCES: readonly string[] = ['EMFILE', 'ENFILE', 'ENOBUFS', 'ENOMEM', 'EADDRNOTAVAIL']

/** Converts an error of Node, OpenSSL, zlib or undici to an `OutboundError`. */
export function failureOf(thrown: unknown, phase: OutboundPhase, host: string): OutboundError {
  if (thrown instanceof OutboundError) return thrown
  const code = connectCode(thrown)
  if (OUT_OF_RESOURCES.includes(code)) {
    const message = `this server had no resources left to connect to ${host} (${code})`
    return new OutboundError('interrupted', message, { cause: thrown, phase })
  }
  const ours = thrown instanceof Error ? CLOSED_BY_US[thrown.message] : undefined
  const [kind, words] = ours ?? explanationOf(code, phase)
  return new OutboundError(kind, words(host), { cause: thrown, phase })
}

const NO_ROUTE: readonly string[] = ['ENETUNREACH', 'EHOSTUNREACH', 'EADDRNOTAVAIL', 'EAFNOSUPPORT']

/** Whether the machine has no way to an address, as for a family of addresses that it does not have. */
export const isWithoutRoute = (thrown: unknown): boolean => NO_ROUTE.includes(codeOf(thrown))

export const withoutIpv6 = (cause: unknown, host: string): OutboundError =>
  new OutboundError('no_network', `${host} can only be reached by IPv6, which this server does not have`, {
    cause,
    phase: 'connect',
  })

const isLocal = (code: string): boolean =>
  OUT_OF_RESOURCES.includes(code) || EXPLANATIONS[code]?.[0] === 'no_network' || code === 'EAFNOSUPPORT'

/**
 * The code of an error. Where several addresses were tried, the most telling: what the other end did, before what this machine
 * could not do, as it may lack only one family of addresses.
 */
function connectCode(thrown: unknown): string {
  const failures: readonly unknown[] = thrown instanceof AggregateError ? thrown.errors : [thrown]
  const codes = failures.map(codeOfOne)
  return codes.find((code) => !isLocal(code) && code !== 'ENETUNREACH') ?? codes.find(isLocal) ?? codes[0] ?? ''
}

/** With IPv6, a firewall at the other end causes EACCES as well (ICMPv6 "administratively prohibited"). */
function codeOfOne(thrown: unknown): string {
  const code = codeOf(thrown)
  return code === 'EACCES' && thrown instanceof Error && 'address' in thrown && String(thrown.address).includes(':')
    ? 'EHOSTUNREACH'
    : code
}

function explanationOf(code: string, phase: OutboundPhase): Explanation {
  const known = EXPLANATIONS[code]
  if (known !== undefined) return known
  if (phase === 'dns') return DNS_FAILED
  if (phase === 'tls') return TLS
  if (phase === 'connect') return UNREACHABLE
  return /^(Z_|ZSTD_|ERR_BROTLI|ERR__ERROR_FORMAT)/.test(code) ? ENCODING : PROTOCOL
}
