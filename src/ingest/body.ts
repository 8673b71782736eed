import type { IncomingMessage, ServerResponse } from 'node:http'
import { FairQueue } from '../lib/index.ts'

/** Largest body that is read, bytes: 1 MB. */
const BODY_MAX = 1_048_576
/** Bytes of a refused body to discard, so that the answer gets through before the connection is cut. */
const DISCARD_MAX = 2 * BODY_MAX
/** Memory of a chunk besides its bytes: a sender may send a body byte by byte. */
const CHUNK_COST = 256
/** A body up to this size is read as soon as it has arrived. A larger one waits for its turn in a thread. */
export const SMALL_BODY = 16_384

/** Chunks of larger bodies, 64 KiB each, taken in each turn of the event loop. */
const CHUNKS_PER_TURN = 4
/** The least that a larger body costs, because Node reads that much ahead. */
const LARGE_COST = 65_536
/** Time for the sender of a refused body to see the answer and hang up, before the rest of the body is read, ms. */
const DISCARD_AFTER_MS = 1_000

type BodyRefusal = { why: 'too_large' } | { why: 'over_budget'; exhausted: BudgetScope }

/** A body that has arrived. */
export interface Body {
  /** Copies its bytes out of the chunks they arrived in; call it once. */
  bytes: () => Buffer<ArrayBuffer>
  /** Bytes. */
  size: number
  /** Call when the request is answered: until then its bytes count as under way. */
  release: () => void
}

/**
 * Receives bodies, within limits for each body, for each client and for all together.
 *
 * Node would read 2 MB from one socket before it turns to the next, and hundreds may be waiting. So large bodies are read a few
 * chunks per turn of the event loop, the clients in turn.
 */
export class BodyReader {
  readonly #budget = new ByteBudget()
  /** Large bodies that are paused until their next chunk may come. */
  readonly #paused = new FairQueue<IncomingMessage>()
  #isScheduled = false

  /** Bytes of unanswered requests. */
  get bytesUnderWay(): number {
    return this.#budget.bytes
  }

  /** Calls one of the two callbacks when the body has arrived or is refused; neither when the sender disconnects first. */
  read(
    request: IncomingMessage,
    clientId: string,
    onBody: (body: Body) => void,
    onRefused: (refusal: BodyRefusal) => void,
  ): void {
    let chunks: Buffer<ArrayBuffer>[] = []
    let size = 0
    let held = 0
    let isDone = false
    const announced = Number(request.headers['content-length'])
    const release = () => {
      this.#budget.release(clientId, held)
      held = 0
    }
    const drop = () => {
      isDone = true
      for (const chunk of chunks) free(chunk)
      chunks = []
      release()
    }
    const refuse = (refusal: BodyRefusal) => {
      drop()
      onRefused(refusal)
    }
    request.on('data', (chunk: Buffer<ArrayBuffer>) => {
      if (isDone) return
      size += chunk.length
      if (size > BODY_MAX) {
        refuse({ why: 'too_large' })
        return
      }
      const isLarge = size > SMALL_BODY
      const cost = Math.max(size + CHUNK_COST * (chunks.length + 1), isLarge ? LARGE_COST : 0) - held
      const exhausted = this.#budget.take(clientId, cost, !isLarge)
      if (exhausted !== undefined) {
        refuse({ why: 'over_budget', exhausted })
        return
      }
      held += cost
      chunks.push(chunk)
      if (isLarge && size !== announced) this.#pause(clientId, request)
    })
    request.on('end', () => {
      if (isDone) return
      isDone = true
      const bytes = () => {
        const joined = joinedBytes(chunks, size)
        chunks = []
        return joined
      }
      if (request.socket.destroyed) release()
      else onBody({ bytes, size, release })
    })
    request.on('close', () => {
      if (!isDone) drop()
    })
  }

  #pause(clientId: string, request: IncomingMessage): void {
    request.pause()
    this.#paused.push(clientId, request)
    this.#schedule()
  }

  #schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(() => {
      this.#isScheduled = false
      for (let left = CHUNKS_PER_TURN; left > 0; left--) this.#paused.take()?.resume()
      if (this.#paused.size > 0) this.#schedule()
    })
  }
}

/** A small body is usually one chunk already. A large one gets a buffer of its own, which can be transferred to a thread. */
function joinedBytes(chunks: readonly Buffer<ArrayBuffer>[], size: number): Buffer<ArrayBuffer> {
  const [only] = chunks
  if (chunks.length === 1 && only !== undefined && size <= SMALL_BODY) return only
  const bytes = Buffer.allocUnsafeSlow(size)
  let at = 0
  for (const chunk of chunks) {
    at += chunk.copy(bytes, at)
    free(chunk)
  }
  return bytes
}

/**
 * Frees a chunk's memory at once. The garbage collector notices large buffers only by their total size and then goes through the
 * whole heap: with 340 MB of large bodies a second that took half a core.
 */
function free(chunk: Buffer<ArrayBuffer>): void {
  const { buffer } = chunk
  if (chunk.byteLength === buffer.byteLength) buffer.transfer(0)
}

/** Whether the announced length alone exceeds the limit. */
export function announcesTooMuch(contentLength: string | undefined): boolean {
  return contentLength !== undefined && Number(contentLength) > BODY_MAX
}

/**
 * Discards the rest of a refused body, then ends the response and with it the connection. Cutting it at once would reset it, and
 * the sender might never see the answer; reading without a limit would let any sender keep the server busy. Most senders see the
 * answer while they send, and hang up, so reading begins only after `DISCARD_AFTER_MS`.
 */
export function discardRest(request: IncomingMessage, response: ServerResponse): void {
  let discarded = 0
  request.pause()
  const begin = setTimeout(() => request.resume(), DISCARD_AFTER_MS).unref()
  request.on('data', (chunk: Buffer<ArrayBuffer>) => {
    discarded += chunk.length
    free(chunk)
    if (discarded > DISCARD_MAX) response.end()
  })
  request.on('end', () => response.end())
  request.on('close', () => {
    clearTimeout(begin)
    response.end()
  })
}

/** Bytes of requests under way, for all clients together and for one. */
export const BUDGET_BYTES = 67_108_864
export const BUDGET_BYTES_PER_CLIENT = 16_777_216
/** Extra room for small bodies: senders of large ones must not shut out everyone else. */
export const BUDGET_BYTES_FOR_SMALL = 16_777_216

/** The budget that a refused body would exceed. */
type BudgetScope = 'client' | 'all'

/**
 * Limits the bytes of requests under way, from a body's first byte until its answer. It counts bytes, not requests, because the
 * sender decides how much memory a request takes: its text, and several times that once parsed.
 */
export class ByteBudget {
  #bytes = 0
  readonly #byClient = new Map<string, number>()

  get bytes(): number {
    return this.#bytes
  }

  /** Takes `bytes` for a body, or returns the exhausted budget. @param isSmall whether the body is small so far */
  take(clientId: string, bytes: number, isSmall: boolean): BudgetScope | undefined {
    const ofClient = (this.#byClient.get(clientId) ?? 0) + bytes
    if (ofClient > BUDGET_BYTES_PER_CLIENT) return 'client'
    if (this.#bytes + bytes > BUDGET_BYTES + (isSmall ? BUDGET_BYTES_FOR_SMALL : 0)) return 'all'
    this.#byClient.set(clientId, ofClient)
    this.#bytes += bytes
    return undefined
  }

  release(clientId: string, bytes: number): void {
    this.#bytes -= bytes
    const left = (this.#byClient.get(clientId) ?? 0) - bytes
    if (left > 0) this.#byClient.set(clientId, left)
    else this.#byClient.delete(clientId)
  }
}
