import type { IncomingMessage, ServerResponse } from 'node:http'
import { FairQueue } from '../lib/index.ts'
import { type Full, Room } from './room.ts'

/** Largest body that is read, bytes: 1 MB. */
export const BODY_MAX = 1_048_576
/** Bytes of an unread body that are thrown away to get an answer through before the connection is cut. */
const DISCARD_MAX = 2 * BODY_MAX
/** What a piece of a body costs besides its bytes: a sender may send them one by one. */
const CHUNK_COST = 256
/** A body up to this size is looked at when it is there. A larger one waits for its turn. */
const SMALL_BODY = 16_384
/** Bytes of larger bodies that are looked at in one turn of the event loop: then others are answered first. */
const BYTES_PER_TURN = 65_536
/** A turn of larger bodies that took this long, ms, is noticed by everybody … */
const HEAVY_MS = 1
/** … and is followed by this many times as long for everybody else, before the next one. */
const REST = 3

export type BodyRefusal = { why: 'too_large' } | { why: 'no_room'; full: Full }

/** A body that has arrived. */
export interface Body {
  text: string
  /** Bytes. */
  size: number
  /** To be called when the request has its answer: until then its bytes count as under way. */
  release: () => void
}

interface Waiting {
  size: number
  deliver: () => void
}

/**
 * Reads bodies as text, within bounds for each, for each client and for all of them together.
 *
 * A megabyte of JSON takes tens of milliseconds to parse, and hundreds of them may arrive at once. So large bodies wait, as the
 * bytes they came as, and are handed over a few in each turn of the event loop, one client after the other.
 */
export class BodyReader {
  readonly #room = new Room()
  readonly #waiting = new FairQueue<Waiting>()
  #isScheduled = false

  /** Bytes of requests that have begun and are not answered. */
  get bytesUnderWay(): number {
    return this.#room.bytes
  }

  /** Calls one of the two when the body is there or refused; neither when the sender goes away before. */
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
      this.#room.give(clientId, held)
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
      const full = this.#room.take(clientId, cost, size <= SMALL_BODY)
      if (full !== undefined) {
        refuse({ why: 'no_room', full })
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

  #wait(clientId: string, waiting: Waiting): void {
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

/** Some senders put a byte order mark before their JSON, which JSON does not know. */
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
 * Throws away what is left of a refused body, then ends the response and with it the connection. Cutting it at once would
 * reset it and the sender might never see the answer; reading on without end would let anybody keep us busy.
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
