import type { IncomingMessage, RequestListener, ServerOptions, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { asError, FairQueue } from '../lib/index.ts'
import { responseUnderWay } from './errors.ts'

/** Largest body of a management call: 1 MB. */
export const MAX_BODY_BYTES = 1_048_576

/**
 * How much of the server one caller may occupy, for the code that creates it (Fastify, or a server factory). Times in ms.
 * Slowloris attacks rely on servers that wait: here a request has a deadline from its first byte.
 */
export const SERVER_LIMITS = {
  /** Room for the cookies and headers that proxies add; more is answered 431. */
  maxHeaderSize: 16_384,
  headersTimeout: 10_000,
  /** Headers and body together: 1 MB arrives in time over a line of 300 kbit/s. */
  requestTimeout: 30_000,
  /** Longer than the 60 s after which load balancers drop idle connections, so that they never send into a closed one. */
  keepAliveTimeout: 72_000,
  /** Node checks the two deadlines only this often; its default of 30 s would double them. */
  connectionsCheckingInterval: 5_000,
} satisfies ServerOptions

/** A socket without a byte in either direction for this long is cut: half-open connections, readers that stopped. */
export const IDLE_SOCKET_TIMEOUT_MS = 120_000

/** Requests of one connection that may wait for the previous answer (pipelining). One more cuts the connection. */
const PIPELINED_MAX = 32
/** The same for ingest, whose requests run side by side, as a group commit answers them together. */
const PIPELINED_INGEST_MAX = 256

type Exchange = [request: IncomingMessage, response: ServerResponse]

/** Requested by monitoring, so it waits behind nothing else. */
const VITAL: ReadonlySet<string | undefined> = new Set(['/health', '/ready'])

/** Cuts a connection with too many waiting requests. */
type Cut = (socket: Socket) => void

const destroy: Cut = (socket) => socket.destroy()

/**
 * Passes requests to `handler` at the pace of the event loop: one per turn over all connections, plus one for `/health` or
 * `/ready`; on each connection the next when the last answer has been sent. Otherwise a caller who sends thousands in one go
 * (pipelining) would have them all answered in one go, with no one else served meanwhile. Callers take turns.
 *
 * Cuts a connection on which more than `PIPELINED_MAX` requests wait.
 *
 * @param callerOf finds the caller of a request
 */
export function inTurn(
  handler: RequestListener,
  callerOf: (request: IncomingMessage) => string,
  cut: Cut = destroy,
): RequestListener {
  /** Waiting requests of connections that have one under way. */
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
      // Node resets a connection's timeout only when it was idle.
      socket.setTimeout(IDLE_SOCKET_TIMEOUT_MS)
      // Not at once: an answer may be sent within its handler, and the calls would nest ever deeper.
      laneOf(next[0]).enterLater(callerOf(next[0]), next)
    })
    handler(request, response)
  }
  const usual = new Lane(begin)
  const vital = new Lane(begin)
  const laneOf = ({ url }: IncomingMessage): Lane => (VITAL.has(url) ? vital : usual)

  return (request, response) => {
    const { socket } = request
    // Requests that were read before the connection was cut are still parsed.
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
 * Passes requests to `handler` at once, those of one connection side by side, and cuts a connection on which more than
 * `PIPELINED_INGEST_MAX` wait for their answer. Costs nothing when no request waits behind another.
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

/** Begins one exchange per turn of the event loop. */
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
      // A caller who has gone costs no one else a turn.
      if (next[0].socket.destroyed) continue
      this.#start(next)
      return
    }
  }
}

/**
 * Passes requests to `handler` and cuts the connection of one that makes it throw. Nothing catches what a server's listener
 * throws, so it would end the process, with everyone else's requests.
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
