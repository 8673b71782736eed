import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { FairQueue } from '../lib/index.ts'
import { responseUnderWay } from './client-errors.ts'
import { IDLE_SOCKET_TIMEOUT_MS, PIPELINED_INGEST_MAX, PIPELINED_MAX } from './limits.ts'

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
