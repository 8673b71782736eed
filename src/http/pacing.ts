import type { IncomingMessage, RequestListener, ServerOptions, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { asError, FairQueue } from '../lib/index.ts'
import { responseUnderWay } from './errors.ts'

/** Largest body a management call may send: 1 MB. */
export const MAX_BODY_BYTES = 1_048_576

/**
 * What one caller may hold of the server, for the code that creates it (Fastify, or a server factory). Times in ms.
 * The senders of a slowloris live from servers that wait: here a request has a deadline from its first byte.
 */
export const SERVER_LIMITS = {
  /** Room for the cookies and headers that proxies add; what is over is answered 431. */
  maxHeaderSize: 16_384,
  headersTimeout: 10_000,
  /** Headers and body together: 1 MB arrives in time over a line of 300 kbit/s. */
  requestTimeout: 30_000,
  /** Longer than the 60 s after which load balancers drop idle connections, so that they never send into a closed one. */
  keepAliveTimeout: 72_000,
  /** Node looks at the two deadlines above only this often; its default of 30 s would double them. */
  connectionsCheckingInterval: 5_000,
} satisfies ServerOptions

/** A socket without a byte in either direction for this long is cut: half-open connections, readers that stopped. */
export const IDLE_SOCKET_TIMEOUT_MS = 120_000

/** Requests of one connection that may wait for the answer to the one before (pipelining). One more cuts the connection. */
const PIPELINED_MAX = 32
/** The same for ingest, whose requests go side by side: a group commit answers them together. */
const PIPELINED_INGEST_MAX = 256

type Exchange = [request: IncomingMessage, response: ServerResponse]

/** Asked by whatever watches over us, so it waits behind nothing else. */
const VITAL: ReadonlySet<string | undefined> = new Set(['/health', '/ready'])

/** Cuts a connection on which too many requests wait. */
type Cut = (socket: Socket) => void

const destroy: Cut = (socket) => socket.destroy()

/**
 * Hands requests to `handler` at the pace of the event loop: one a turn over all connections, and beside it one for `/health` or
 * `/ready`; of each connection the next when the last answer has left. Otherwise who sends thousands in one go (pipelining) has
 * them all answered in one go, and no one else is served meanwhile. Callers take turns.
 *
 * A connection on which more than `PIPELINED_MAX` requests wait is cut.
 *
 * @param callerOf whom a request counts for
 */
export function inTurn(
  handler: RequestListener,
  callerOf: (request: IncomingMessage) => string,
  cut: Cut = destroy,
): RequestListener {
  /** What waits on the connections that have a request under way. */
  const waiting = new WeakMap<Socket, Exchange[]>()

  const begin = (exchange: Exchange): void => {
    const [request, response] = exchange
    const { socket } = request
    response.once('close', () => {
      const next = waiting.get(socket)?.shift()
      if (next === undefined || socket.destroyed) {
        waiting.delete(socket)
        return
      }
      // Node resets the times of a connection only after it was idle.
      socket.setTimeout(IDLE_SOCKET_TIMEOUT_MS)
      // Not at once, as an answer may have left within its handler: that would go on down the stack.
      laneOf(next[0]).enterLater(callerOf(next[0]), next)
    })
    handler(request, response)
  }
  const usual = new Lane(begin)
  const vital = new Lane(begin)
  const laneOf = ({ url }: IncomingMessage): Lane => (VITAL.has(url) ? vital : usual)

  return (request, response) => {
    const { socket } = request
    // What was read before the connection was cut is still taken apart.
    if (socket.destroyed) return
    const line = waiting.get(socket)
    if (line === undefined) {
      waiting.set(socket, [])
      laneOf(request).enter(callerOf(request), [request, response])
    } else if (line.length < PIPELINED_MAX) {
      line.push([request, response])
    } else {
      waiting.delete(socket)
      cut(socket)
    }
  }
}

/**
 * Hands requests to `handler` at once, those of one connection side by side, and cuts a connection on which more than
 * `PIPELINED_INGEST_MAX` wait for their answer. Costs nothing where none waits behind another.
 */
export function boundPipeline(handler: RequestListener, cut: Cut = destroy): RequestListener {
  const behind = new WeakMap<Socket, number>()
  return (request, response) => {
    const { socket } = request
    if (socket.destroyed) return
    if (responseUnderWay(socket) !== response) {
      const count = (behind.get(socket) ?? 0) + 1
      if (count > PIPELINED_INGEST_MAX) {
        cut(socket)
        return
      }
      behind.set(socket, count)
      response.once('close', () => behind.set(socket, (behind.get(socket) ?? 1) - 1))
    }
    handler(request, response)
  }
}

/** Begins one exchange in a turn of the event loop. */
class Lane {
  readonly #begin: (exchange: Exchange) => void
  readonly #queue = new FairQueue<Exchange>()
  /** Whether one has begun in this turn. While none has, none waits. */
  #isTaken = false

  constructor(begin: (exchange: Exchange) => void) {
    this.#begin = begin
  }

  enter(caller: string, exchange: Exchange): void {
    if (this.#isTaken) this.#queue.push(caller, exchange)
    else this.#start(exchange)
  }

  enterLater(caller: string, exchange: Exchange): void {
    this.#queue.push(caller, exchange)
    if (!this.#isTaken) this.#endTurn()
  }

  #start(exchange: Exchange): void {
    this.#endTurn()
    this.#begin(exchange)
  }

  #endTurn(): void {
    this.#isTaken = true
    setImmediate(() => this.#nextTurn())
  }

  #nextTurn(): void {
    this.#isTaken = false
    for (let next = this.#queue.take(); next !== undefined; next = this.#queue.take()) {
      // Who has gone away meanwhile costs no one a turn.
      if (next[0].socket.destroyed) continue
      this.#start(next)
      return
    }
  }
}

/**
 * Hands requests to `handler`; one that makes it throw loses its connection. Nothing catches what a listener of the server throws,
 * so it would end the process, with everybody else's requests.
 */
export function enduring(handler: RequestListener, onError: (error: Error, what: string) => void): RequestListener {
  return (request, response) => {
    try {
      handler(request, response)
    } catch (thrown) {
      request.socket.destroy()
      onError(asError(thrown), 'a request')
    }
  }
}
