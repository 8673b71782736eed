import type { CertificateFacts } from './certificate.ts'

/**
 * Why a request failed:
 * - `bad_url`, `bad_request`: it could not be made as asked
 * - `forbidden_address`: it leads to where this server must not reach
 * - `dns`, `refused`, `unreachable`, `tls`, `reset`: the network or the other end did not accept it
 * - `timeout`: see `phase` for what took too long
 * - `protocol`: what came back is not HTTP as it should be
 * - `too_many_redirects`, `redirect_refused`: the other end sent us on, further than allowed
 * - `aborted`: the caller no longer wants it
 * - `interrupted`: the thread that made it ended meanwhile, which says nothing about the other end; may be tried again
 */
export type OutboundErrorKind =
  | 'bad_url'
  | 'bad_request'
  | 'forbidden_address'
  | 'dns'
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

/** The parts of a request, in their order. */
export type OutboundPhase = 'dns' | 'connect' | 'tls' | 'first_byte' | 'body'

export interface OutboundErrorDetails {
  cause?: unknown
  /** What was being done when a `timeout`, `reset` or the like struck. */
  phase?: OutboundPhase
  /** The certificate that was not accepted, when that is why. */
  certificate?: CertificateFacts
}

/**
 * A failed request. The message is a sentence for people: it names the host, but never the path or query (which may hold
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
