import { SECOND } from '../../lib/index.ts'
import { type Outbound, OutboundError } from '../../outbound/index.ts'

/** The options that the library passes to `fetch`. */
interface FetchOptions {
  method: string
  headers: Record<string, string>
  body?: unknown
  signal?: AbortSignal
}

/** A person waits for the page, and the library itself would wait longer. Metadata and keys take some 10 kB. */
const LIMITS = { totalMs: 10 * SECOND, bodyBytes: 512 * 1_024 }

/** A `fetch` that only goes where operators allow: no redirects, bounded time and size. @throws OutboundError */
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
    // `Response` knows only these.
    if (status < 200 || status > 599) throw new OutboundError('protocol', `the provider answers with status ${status}`)
    const hasBody = status !== 204 && status !== 205 && status !== 304
    const response = new Response(hasBody ? bytes : null, { status, headers: readable(answered) })
    // For the log: the address tells a wrong issuer from a wrong secret.
    return Object.defineProperty(response, 'url', { value: url })
  }

/** Removes headers: the body is decompressed already, and with a challenge the library does not read why the client was refused. */
const readable = ({
  'content-encoding': _encoding,
  'content-length': _length,
  'www-authenticate': _challenge,
  ...headers
}: Readonly<Record<string, string>>) => headers
