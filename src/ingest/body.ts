import type { IncomingMessage, ServerResponse } from 'node:http'
import { FairQueue } from '../lib/index.ts'

/** Largest body that is read, bytes: 1 MB. */
const BODY_MAX = 1_048_576
/** Bytes of an unread body to discard so that the answer gets through before the connection is cut. */
const DISCARD_MAX = 2 * BODY_MAX
/** Memory of a chunk besides its bytes: a sender may send a body byte by byte. */
const CHUNK_COST = 256
/** A body up to this size is read as soon as it has arrived. A larger one waits for its turn in a thread of its own. */
export const SMALL_BODY = 16_384

/** Chunks of larger bodies, of 64 KiB, taken in each turn of the event loop. */
const CHUNKS_PER_TURN = 4
/** Least that a larger body costs, as Node reads some of it ahead. */
const LARGE_COST = 65_536
/** How long the sender of a refused body may take to see the answer and hang up, before the rest of the body is read, ms. */
const DISCARD_AFTER_MS = 1_000

type BodyRefusal = { why: 'too_large' } | { why: 'over_budget'; exhausted: BudgetScope }

/** A body that has arrived. */
export interface Body {
  /** Its bytes, copied out of what they arrived in: call it once. */
  bytes: () => Buffer<ArrayBuffer>
  /** Bytes. */
  size: number
  /** To be called when the request has its answer: until then its bytes count as under way. */
  release: () => void
}

/**
 * Takes in bodies, within bounds for each, for each client and for all of them together.
 *
 * Node would read 2 MB from a socket before it turns to the next, and there may be hundreds. So of large bodies a few chunks are
 * taken in each turn of the event loop, the clients in turn.
 */
export class BodyReader {
  readonly #budget = new ByteBudget()
  /** Large bodies of which a chunk was taken in, and that wait for their turn to send the next. */
  readonly #paused = new FairQueue<IncomingMessage>()
  #isScheduled = false

  /** Bytes of requests that have begun and are not answered. */
  get bytesUnderWay(): number {
    return this.#budget.bytes
  }

  /** Calls one of the two when the body has arrived or is refused; neither when the sender disconnects before. */
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

/** A small body mostly is one chunk already. A large one gets a buffer of its own, which can be handed to a thread. */
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
 * Frees a chunk's memory at once. The garbage collector sees large buffers only by the pressure of their bytes, and then goes
 * through the whole heap: beside 340 MB a second of large bodies that took half of a core.
 */
function free(chunk: Buffer<ArrayBuffer>): void {
  const { buffer } = chunk
  if (chunk.byteLength === buffer.byteLength) buffer.transfer(0)
}

/** Whether the announced length alone is too much. */
export function announcesTooMuch(contentLength: string | undefined): boolean {
  return contentLength !== undefined && Number(contentLength) > BODY_MAX
}

/**
 * Discards the rest of a refused body, then ends the response and with it the connection. Cutting it at once would reset it,
 * and the sender might never see the answer; reading without a limit would let any sender keep the server busy. Most senders see the
 * answer while they send, and hang up: so the rest is left alone for a moment.
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

/** Bytes of requests under way at once, over all clients and of one client. */
export const BUDGET_BYTES = 67_108_864
export const BUDGET_BYTES_PER_CLIENT = 16_777_216
/** An extra allowance for small bodies: senders of large ones must not shut out all others. */
export const BUDGET_BYTES_FOR_SMALL = 16_777_216

/** Whose budget a refused body would exceed: its client's, or that of all clients together. */
type BudgetScope = 'client' | 'all'

/**
 * Bounds the bytes of requests under way: from the first byte of a body until its answer. It bounds bytes, not requests,
 * because the sender decides how much memory a request takes: its text, and several times as much once it is parsed.
 */
export class ByteBudget {
  #bytes = 0
  readonly #byClient = new Map<string, number>()

  get bytes(): number {
    return this.#bytes
  }

  /** Takes `bytes` for a body, or returns whose budget is exhausted. @param isSmall whether the body is small so far */
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
