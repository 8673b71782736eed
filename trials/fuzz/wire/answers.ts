import { brotliDecompressSync, gunzipSync } from 'node:zlib'

/** One HTTP answer. */
export interface HttpAnswer {
  status: number
  /** Status line and headers, latin1. */
  head: string
  /** Without its chunks and its compression. */
  body: Buffer
  /** Whether the server said that it ends the connection. */
  isLast: boolean
  /** A stream of events: what is there of it so far is its body. */
  isEndless: boolean
}

/** Thrown for bytes that are no HTTP answer. */
export class MalformedAnswer extends Error {}

interface Parsed {
  answer: HttpAnswer
  /** Where the next answer begins. */
  end: number
}

/**
 * Takes the first answer off `bytes`, or gives null while it is not whole.
 *
 * @param isHead whether it answers a HEAD request, and so has no body
 * @param isAll no more bytes will come
 * @throws MalformedAnswer
 */
export function takeAnswer(bytes: Buffer, isHead: boolean, isAll = false): Parsed | null {
  const headEnd = bytes.indexOf('\r\n\r\n')
  if (headEnd === -1) {
    if (bytes.length > 0 && !'HTTP/1.1 '.startsWith(bytes.toString('latin1', 0, Math.min(9, bytes.length)))) {
      throw new MalformedAnswer('the answer does not begin as one')
    }
    return null
  }
  const head = bytes.toString('latin1', 0, headEnd)
  const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(head)?.[1])
  if (Number.isNaN(status)) throw new MalformedAnswer('the answer has no status line')
  const start = headEnd + 4
  // 100 Continue: the answer itself follows.
  if (status < 200) {
    const rest = takeAnswer(bytes.subarray(start), isHead, isAll)
    return rest === null ? null : { answer: rest.answer, end: rest.end + start }
  }
  const isEndless = /\r\ncontent-type: text\/event-stream/i.test(head)
  const isLast = /\r\nconnection: close/i.test(head)
  const whole = (sent: Buffer, end: number): Parsed => ({
    answer: { status, head, body: decompressed(sent, head), isLast, isEndless },
    end,
  })
  if (isEndless) return whole(bytes.subarray(start), bytes.length)
  if (isHead || status === 204 || status === 304) return whole(Buffer.alloc(0), start)
  if (/\r\ntransfer-encoding: chunked/i.test(head)) {
    const chunks = takeChunks(bytes, start)
    return chunks === null ? null : whole(chunks.body, chunks.end)
  }
  const length = /\r\ncontent-length: (\d+)/i.exec(head)?.[1]
  if (length === undefined) return isAll ? whole(bytes.subarray(start), bytes.length) : null
  const end = start + Number(length)
  return bytes.length < end ? null : whole(bytes.subarray(start, end), end)
}

/** Requests with a hostile `Accept-Encoding` get compressed answers, in which no one would see what leaks. */
function decompressed(sent: Buffer, head: string): Buffer {
  const encoding = /\r\ncontent-encoding: (\S+)/i.exec(head)?.[1]
  if (encoding === undefined || sent.length === 0) return sent
  try {
    if (encoding === 'gzip') return gunzipSync(sent)
    if (encoding === 'br') return brotliDecompressSync(sent)
  } catch {
    // Below, with encodings that no one knows.
  }
  throw new MalformedAnswer(`the answer is not what its encoding ${encoding} says`)
}

function takeChunks(bytes: Buffer, start: number): { body: Buffer; end: number } | null {
  const chunks: Buffer[] = []
  for (let at = start; ; ) {
    const lineEnd = bytes.indexOf('\r\n', at)
    if (lineEnd === -1) return null
    const size = Number.parseInt(bytes.toString('latin1', at, lineEnd), 16)
    if (Number.isNaN(size)) throw new MalformedAnswer('a chunk of the answer has no size')
    const end = lineEnd + 2 + size + 2
    if (bytes.length < end) return null
    if (size === 0) return { body: Buffer.concat(chunks), end }
    chunks.push(bytes.subarray(lineEnd + 2, lineEnd + 2 + size))
    at = end
  }
}

/**
 * All answers in what a connection received, for requests whose ends are unknown.
 *
 * @param isCut the last one may be incomplete
 * @throws MalformedAnswer when something is left over
 */
export function allAnswers(received: Buffer, mayBeHead: boolean, isCut: boolean): HttpAnswer[] {
  const answers: HttpAnswer[] = []
  for (let rest = received; rest.length > 0; ) {
    const parsed = takeAnswer(rest, mayBeHead && isBodyless(rest), true)
    if (parsed === null && isCut) break
    if (parsed === null) throw new MalformedAnswer('the connection ended inside an answer')
    answers.push(parsed.answer)
    rest = rest.subarray(parsed.end)
  }
  return answers
}

/** Whether nothing, or another answer, stands where the body would. */
function isBodyless(bytes: Buffer): boolean {
  const start = bytes.indexOf('\r\n\r\n') + 4
  return start === bytes.length || bytes.toString('latin1', start, start + 9) === 'HTTP/1.1 '
}
