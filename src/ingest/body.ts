import type { IncomingMessage, ServerResponse } from 'node:http'
import { FairQueue } from '../lib/index.ts'

/** Largest body that is read, bytes: 1 MB. */
const BODY_MAX = 1_048_576
/** Bytes of an unread body to discard so that the answer gets through before the connection is cut. */
const DISCARD_MAX = 2 * BODY_MAX
/** Memory of a chunk besides its bytes: a sender may send a body byte by byte. */
const CHUNK_COST = 256
/** A body up to this size is parsed as soon as it has arrived. A larger one waits for its turn. */
const SMALL_BODY = 16_384
/** Bytes of larger bodies that are parsed in one turn of the event loop: then others are answered first. */
const BYTES_PER_TURN = 65_536
/** A turn of larger bodies that took this long, ms, delays all other requests … */
const HEAVY_MS = 1
/** … and is followed by a pause of this many times as long, which leaves the event loop to them. */
const REST = 3

type BodyRefusal = { why: 'too_large' } | { why: 'over_budget'; exhausted: BudgetScope }

/** A body that has arrived. */
export interface Body {
  text: string
  /** Bytes. */
  size: number
  /** To be called when the request has its answer: until then its bytes count as under way. */
  release: () => void
}

interface PendingBody {
  size: number
  deliver: () => void
}

/**
 * Reads bodies as text, within bounds for each, for each client and for all of them together.
 *
 * A megabyte of JSON takes tens of milliseconds to parse, and hundreds of them may arrive at once. So large bodies wait as raw
 * bytes, and each turn of the event loop delivers a few of them, one client after the other.
 */
export class BodyReader {
  readonly #budget = new ByteBudget()
  readonly #waiting = new FairQueue<PendingBody>()
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
    let chunks: Buffer[] = []
    let size = 0
    let held = 0
    let isDone = false
    const release = () => {
      this.#budget.release(clientId, held)
      held = 0
    }
    const refuse = (refusal: BodyRefusal) => {
      isDone = true
      chunks = []
      release()
      onRefused(refusal)
    }
    request.on('data', (chunk: Buffer) => {
      if (isDone) return
      size += chunk.length
      if (size > BODY_MAX) {
        refuse({ why: 'too_large' })
        return
      }
      const cost = chunk.length + CHUNK_COST
      const exhausted = this.#budget.take(clientId, cost, size <= SMALL_BODY)
      if (exhausted !== undefined) {
        refuse({ why: 'over_budget', exhausted })
        return
      }
      held += cost
      chunks.push(chunk)
    })
    request.on('end', () => {
      if (isDone) return
      isDone = true
      const deliver = () => {
        const text = textOf(chunks)
        chunks = []
        if (request.socket.destroyed) release()
        else onBody({ text, size, release })
      }
      if (size <= SMALL_BODY) deliver()
      else this.#wait(clientId, { size, deliver })
    })
    request.on('close', () => {
      if (isDone) return
      isDone = true
      chunks = []
      release()
    })
  }

  #wait(clientId: string, waiting: PendingBody): void {
    this.#waiting.push(clientId, waiting)
    this.#schedule()
  }

  #schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(() => {
      const beganAt = performance.now()
      this.#deliverSome()
      const took = performance.now() - beganAt
      const goOn = () => {
        this.#isScheduled = false
        if (this.#waiting.size > 0) this.#schedule()
      }
      if (took < HEAVY_MS) goOn()
      else setTimeout(goOn, REST * took)
    })
  }

  #deliverSome(): void {
    for (let bytes = 0; bytes < BYTES_PER_TURN; ) {
      const next = this.#waiting.take()
      if (next === undefined) return
      bytes += next.size
      next.deliver()
    }
  }
}

const BYTE_ORDER_MARK = 0xfeff

/** Some senders put a byte order mark before their JSON, which `JSON.parse` rejects. */
function textOf(chunks: readonly Buffer[]): string {
  const [only] = chunks
  const text = chunks.length === 1 && only !== undefined ? only.toString() : Buffer.concat(chunks).toString()
  return text.charCodeAt(0) === BYTE_ORDER_MARK ? text.slice(1) : text
}

/** Whether the announced length alone is too much. */
export function announcesTooMuch(contentLength: string | undefined): boolean {
  return contentLength !== undefined && Number(contentLength) > BODY_MAX
}

/**
 * Discards the rest of a refused body, then ends the response and with it the connection. Cutting it at once would reset it,
 * and the sender might never see the answer; reading without a limit would let any sender keep the server busy.
 */
export function discardRest(request: IncomingMessage, response: ServerResponse): void {
  let discarded = 0
  request.on('data', (chunk: Buffer) => {
    discarded += chunk.length
    if (discarded > DISCARD_MAX) response.end()
  })
  request.on('end', () => response.end())
  request.on('close', () => response.end())
  request.resume()
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
