import { SECOND } from '../../lib/index.ts'
import { type Outbound, OutboundError } from '../../outbound/index.ts'

/** What the library asks of a `fetch`. */
interface FetchOptions {
  method: string
  headers: Record<string, string>
  body?: unknown
  signal?: AbortSignal
}

/** Of a provider that does not answer, someone waits for the page. */
export const PROVIDER_TIMEOUT_MS = 10 * SECOND
/** Metadata and keys are some 10 kB. */
const LIMITS = { totalMs: PROVIDER_TIMEOUT_MS, bodyBytes: 512 * 1_024 }

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
    return new Response(hasBody ? bytes : null, { status, headers: readable(answered) })
  }

/** The body is decompressed already. */
const readable = ({
  'content-encoding': _encoding,
  'content-length': _length,
  ...headers
}: Readonly<Record<string, string>>) => headers
