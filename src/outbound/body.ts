import { pipeline, type Readable } from 'node:stream'
import { constants, createBrotliDecompress, createUnzip, createZstdDecompress } from 'node:zlib'
import { unlessAborted } from '../lib/index.ts'

/** How much of each body is free of the shared budget: most bodies are smaller, and no large one delays them. */
const FREE_BYTES = 65_536

/** Waits for these bytes of the budget, and resolves to a function that releases them. */
type TakeBytes = (bytes: number) => Promise<() => void>

/** The requested encodings; a compressed answer is returned decompressed. */
export const ACCEPT_ENCODING = 'gzip, br'

export interface Body {
  bytes: Uint8Array<ArrayBuffer>
  /** Whether the body continues after `bytes`. */
  isTruncated: boolean
}

/**
 * Reads a body up to `maxBytes` after decompression, then stops. Only a few chunks are held besides what is kept, however large a
 * compressed body would become.
 *
 * @param takeBytes called for the body's maximum once the body exceeds `FREE_BYTES`; nothing more is read meanwhile
 * @throws errors of `takeBytes`, the stream or the decompression
 */
export async function readBody(
  stream: Readable,
  headers: Readonly<Record<string, string>>,
  maxBytes: number,
  takeBytes: TakeBytes,
): Promise<Body> {
  const decompressors = decompressorsFor(headers['content-encoding'] ?? '')
  const [first] = decompressors
  if (first === undefined) return await readBytes(stream, maxBytes, takeBytes)
  // Typed by its last stream, which the list does not tell.
  const decompressed = pipeline([stream, ...decompressors], passOn) as unknown as Readable
  return await readBytes(decompressed, maxBytes, takeBytes).catch((thrown: unknown) => {
    // Answers to HEAD, 204 and 304 may name an encoding but have nothing to decompress.
    // New each time: a body that was transferred to another thread can be neither read nor transferred again.
    if (first.bytesWritten === 0 && isEarlyEnd(thrown)) return { bytes: new Uint8Array(0), isTruncated: false }
    throw thrown
  })
}

const isEarlyEnd = (thrown: unknown): boolean =>
  thrown instanceof Error && 'code' in thrown && thrown.code === 'Z_BUF_ERROR'

/** Errors are handled by the reader at the end of the pipeline. */
const passOn = (): void => {}

async function readBytes(stream: Readable, maxBytes: number, takeBytes: TakeBytes): Promise<Body> {
  const chunks: Buffer[] = []
  let size = 0
  let giveBack: (() => void) | null = null
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      chunks.push(chunk)
      size += chunk.length
      if (size > maxBytes) break
      if (giveBack === null && size > FREE_BYTES) giveBack = await takeBytes(maxBytes)
    }
    return { bytes: joined(chunks, Math.min(size, maxBytes)), isTruncated: size > maxBytes }
  } finally {
    giveBack?.()
  }
}

/** A buffer of its own, not part of a pool, so that it can be transferred to another thread. */
function joined(chunks: readonly Buffer[], length: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(length)
  let at = 0
  for (const chunk of chunks) {
    bytes.set(chunk.subarray(0, length - at), at)
    at = Math.min(at + chunk.length, length)
  }
  return bytes
}

/** The most that HTTP allows, 8 MiB (RFC 9659): a frame could ask for 128. */
const ZSTD_WINDOW_LOG = 23
/** More of them are left as they are, as browsers leave encodings that they do not know. */
const MAX_ENCODINGS = 3

/** In the order in which they run: the encoding that was applied last is undone first. Some servers send one that was not requested. */
function decompressorsFor(encodings: string) {
  const names = encodings.toLowerCase().split(',')
  if (names.length > MAX_ENCODINGS) return []
  return names.flatMap((name) => decompressorOf(name.trim()) ?? []).toReversed()
}

function decompressorOf(encoding: string) {
  switch (encoding) {
    case 'gzip':
    case 'x-gzip':
    case 'deflate':
      return createUnzip()
    case 'br':
      return createBrotliDecompress()
    case 'zstd':
      return createZstdDecompress({ params: { [constants.ZSTD_d_windowLogMax]: ZSTD_WINDOW_LOG } })
    default:
      return null
  }
}

/** Decodes text by its byte order mark, or the server's charset, or UTF-8. A character that was cut off at the end is left out. */
export function decodeBody({ bytes, isTruncated }: Body, contentType: string | undefined): string {
  const charset = /;\s*charset\s*=\s*"?([^";\s]+)/i.exec(contentType ?? '')?.[1]
  return decoderFor(markedCharset(bytes) ?? charset).decode(bytes, { stream: isTruncated })
}

/** As browsers do, trusts the byte order mark more than the server. */
function markedCharset([first, second]: Uint8Array): string | undefined {
  if (first === 0xff && second === 0xfe) return 'utf-16le'
  return first === 0xfe && second === 0xff ? 'utf-16be' : undefined
}

function decoderFor(charset: string | undefined) {
  try {
    return new TextDecoder(charset)
  } catch {
    return new TextDecoder()
  }
}

interface QueuedBody {
  bytes: number
  enter: () => void
}

/** The memory that all bodies being read may take together. When it is used up, bodies wait, first come, first served. */
export class BodyBudget {
  readonly #queue: QueuedBody[] = []
  readonly #size: number
  #free: number

  constructor(bytes: number) {
    this.#size = bytes
    this.#free = bytes
  }

  /**
   * Resolves to a function that releases the bytes; call it once.
   *
   * @param bytes more than the whole budget waits until all of it is free, and takes all
   * @throws the signal's reason
   */
  async take(bytes: number, signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted()
    const mine = Math.min(bytes, this.#size)
    const { promise, resolve } = Promise.withResolvers<void>()
    const body: QueuedBody = { bytes: mine, enter: resolve }
    this.#queue.push(body)
    this.#next()
    try {
      await unlessAborted(signal, promise)
    } catch (thrown) {
      const at = this.#queue.indexOf(body)
      if (at === -1) this.#giveBack(mine)
      else this.#queue.splice(at, 1)
      this.#next()
      throw thrown
    }
    return () => this.#giveBack(mine)
  }

  #giveBack(bytes: number): void {
    this.#free += bytes
    this.#next()
  }

  /** Small bodies never overtake a large one, which would wait for ever. */
  #next(): void {
    for (let first = this.#queue[0]; first !== undefined && first.bytes <= this.#free; first = this.#queue[0]) {
      this.#queue.shift()
      this.#free -= first.bytes
      first.enter()
    }
  }
}
