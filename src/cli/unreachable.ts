import { asError } from '../lib/index.ts'

const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there: is the service running, and is the port right?',
  ENOTFOUND: 'there is no such host name',
  EAI_AGAIN: 'the host name cannot be looked up: is there a connection to the DNS server?',
  ECONNRESET: 'the connection was cut',
  ETIMEDOUT: 'the connection could not be made in time',
  UND_ERR_CONNECT_TIMEOUT: 'the connection could not be made in time',
  UND_ERR_SOCKET: 'the other side closed the connection',
  CERT_HAS_EXPIRED: 'its certificate has expired',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is self-signed (NODE_EXTRA_CA_CERTS can name one to trust)',
  SELF_SIGNED_CERT_IN_CHAIN: 'its certificate is not from a known authority (NODE_EXTRA_CA_CERTS can name one)',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'its certificate chain is not complete',
}

/** Why `fetch` got no answer, as the end of a sentence. */
export function whyUnreachable(thrown: unknown): string {
  const error = asError(thrown)
  if (error.name === 'TimeoutError') return 'no answer in time'
  // `fetch` only says that it failed; the reason is the cause, of several addresses tried the first.
  const cause: unknown = error.cause instanceof AggregateError ? error.cause.errors[0] : error.cause
  if (!(cause instanceof Error)) return error.message
  const code = 'code' in cause && typeof cause.code === 'string' ? cause.code : ''
  return REASONS[code] ?? cause.message
}
