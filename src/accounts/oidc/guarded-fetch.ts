import { SECOND } from '../../lib/index.ts'
import { type Outbound, OutboundError } from '../../outbound/index.ts'

/** What the library asks of a `fetch`. */
interface FetchOptions {
  method: string
  headers: Record<string, string>
  body?: unknown
  signal?: AbortSignal
}

/** Someone waits for the page, and the library waits for longer. Metadata and keys are some 10 kB. */
const LIMITS = { totalMs: 10 * SECOND, bodyBytes: 512 * 1_024 }

/** A `fetch` that goes where operators let it go: no redirects, bounded time and size. @throws OutboundError */
export const guardedFetch =
  (outbound: Outbound) =>
  async (url: string, { method, headers, body, signal }: FetchOptions): Promise<Response> => {
    const {
      bytes,
      status,
      headers: answered,
      isTruncated,
    } = await outbound.fetchBytes(url, {
      method: method === 'POST' ? 'POST' : 'GET',
      headers,
      ...(body === undefined || body === null ? {} : { body: String(body) }),
      limits: LIMITS,
      ...(signal === undefined ? {} : { signal }),
    })
    if (isTruncated) throw new OutboundError('protocol', 'the answer of the provider is too long')
    if (status < 200) throw new OutboundError('protocol', `the provider answers with the status ${status}`)
    const hasBody = status !== 204 && status !== 205 && status !== 304
    const response = new Response(hasBody ? bytes : null, { status, headers: readable(answered) })
    // For the log: of a fault it is the address that tells a wrong issuer from a wrong secret.
    return Object.defineProperty(response, 'url', { value: url })
  }

/** The body is decompressed already. With a challenge the library reads no word of why the client was refused. */
const readable = ({
  'content-encoding': _encoding,
  'content-length': _length,
  'www-authenticate': _challenge,
  ...headers
}: Readonly<Record<string, string>>) => headers
