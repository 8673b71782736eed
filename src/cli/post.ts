import type { Payload } from '../journal/index.ts'
import { asError } from '../lib/index.ts'

/** The tag's timeouts, ms. */
const TIMEOUT_MS = { perEvent: 5_000, batched: 10_000 }

export interface IngestTarget {
  endpoint: string
  keyHeader: string
  key: string
}

export interface IngestAnswer {
  status: number
  body: string
  /** The `Retry-After` header as sent: seconds. */
  retryAfter: string | null
  /** Time from the request to the end of the answer. */
  ms: number
}

/**
 * Sends one payload as the tag would, with the tag's timeout.
 *
 * @throws the error of `fetch` when there is no answer
 */
export async function postPayload(target: IngestTarget, payload: Payload): Promise<IngestAnswer> {
  const began = performance.now()
  const response = await fetch(target.endpoint, {
    method: 'POST',
    headers: { 'content-type': 'application/json', [target.keyHeader]: target.key },
    body: JSON.stringify(payload),
    // A redirected POST becomes a GET, so report the redirect instead of following it.
    redirect: 'manual',
    signal: AbortSignal.timeout(payload.batch === true ? TIMEOUT_MS.batched : TIMEOUT_MS.perEvent),
  })
  const body = await response.text()
  return {
    status: response.status,
    body,
    retryAfter: response.headers.get('retry-after'),
    ms: performance.now() - began,
  }
}

/** Whether Tagwarden accepted the payload. The body counts too, because any other server may answer 200. */
export const isAccepted = ({ status, body }: IngestAnswer): boolean => status === 200 && body === '{"status":"ok"}'

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

/** Returns why `fetch` got no answer, as the end of a sentence. */
export function whyUnreachable(thrown: unknown): string {
  const error = asError(thrown)
  if (error.name === 'TimeoutError') return 'no answer in time'
  // `fetch` only says that it failed; the reason is its cause. When several addresses were tried, use the first one's.
  const cause: unknown = error.cause instanceof AggregateError ? error.cause.errors[0] : error.cause
  if (!(cause instanceof Error)) return error.message
  const code = 'code' in cause && typeof cause.code === 'string' ? cause.code : ''
  return REASONS[code] ?? cause.message
}
