import type { IncomingMessage, ServerResponse } from 'node:http'

/** Largest body that is read, bytes: 1 MB. */
export const BODY_MAX = 1_048_576
/** Bytes of unfinished bodies held at once over all connections; what comes on top is refused. */
const BUFFERED_MAX = 268_435_456
/** Bytes of an unread body that are thrown away to get an answer through before the connection is cut. */
const DISCARD_MAX = 2 * BODY_MAX

export type BodyOutcome = 'too_large' | 'no_room'

/** Reads bodies as text, within bounds for each and for all of them together. */
export class BodyReader {
  #buffered = 0

  /** Calls one of the two when the body is there or refused; neither when the sender goes away before. */
  read(request: IncomingMessage, onText: (text: string) => void, onRefused: (why: BodyOutcome) => void): void {
    let chunks: Buffer[] = []
    let size = 0
    let isDone = false
    const finish = () => {
      isDone = true
      this.#buffered -= size
    }
    const refuse = (why: BodyOutcome) => {
      finish()
      chunks = []
      onRefused(why)
    }
    request.on('data', (chunk: Buffer) => {
      if (isDone) return
      size += chunk.length
      this.#buffered += chunk.length
      if (size > BODY_MAX) refuse('too_large')
      else if (this.#buffered > BUFFERED_MAX) refuse('no_room')
      else chunks.push(chunk)
    })
    request.on('end', () => {
      if (isDone) return
      finish()
      const [only] = chunks
      onText(chunks.length === 1 && only !== undefined ? only.toString() : Buffer.concat(chunks).toString())
    })
    request.on('close', () => {
      if (!isDone) finish()
    })
  }
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
