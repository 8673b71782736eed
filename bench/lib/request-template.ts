import { TIME_PLACEHOLDER } from '../../testkit/payloads.ts'

/** Characters of an ingest key: 32 bytes as base64url. */
export const KEY_LENGTH = 43
const KEY_PLACEHOLDER = 'K'.repeat(KEY_LENGTH)

/**
 * A whole HTTP request as bytes, with the places that change from one sending to the next. Keys and times have a fixed
 * width, so a request for another site or second is the same buffer with a few bytes written over.
 */
export interface RequestTemplate {
  bytes: Uint8Array
  keyOffset: number
  timeOffsets: number[]
}

export interface RequestOptions {
  /** Said in the head instead of the body's own length, for a request whose body does not follow in full. */
  declaredLength?: number
  /** Asks the server to end the connection after its answer. */
  lastOfConnection?: boolean
}

/** An ingest request with `body`, in which `TIME_PLACEHOLDER` stands for the time of sending. */
export function ingestRequest(body: string, options: RequestOptions = {}): RequestTemplate {
  const length = options.declaredLength ?? Buffer.byteLength(body)
  const head = [
    'POST /ingest HTTP/1.1',
    'Host: 127.0.0.1',
    'Content-Type: application/json',
    `X-Service-Key: ${KEY_PLACEHOLDER}`,
    `Content-Length: ${length}`,
    ...(options.lastOfConnection === true ? ['Connection: close'] : []),
  ]
  const bytes = Buffer.from(`${head.join('\r\n')}\r\n\r\n${body}`)
  return { bytes, keyOffset: bytes.indexOf(KEY_PLACEHOLDER), timeOffsets: offsetsOf(bytes, String(TIME_PLACEHOLDER)) }
}

/** Keys laid one after the other, as the load generator takes them in turn. */
export function packKeys(keys: readonly string[]): Uint8Array {
  const odd = keys.find((key) => Buffer.byteLength(key) !== KEY_LENGTH)
  if (odd !== undefined) throw new Error(`an ingest key has ${odd.length} characters instead of ${KEY_LENGTH}`)
  return Buffer.from(keys.join(''))
}

function offsetsOf(bytes: Buffer, text: string): number[] {
  const offsets: number[] = []
  for (let at = bytes.indexOf(text); at !== -1; at = bytes.indexOf(text, at + text.length)) offsets.push(at)
  return offsets
}
