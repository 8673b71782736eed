import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { callerOf } from './access/throttle.ts'

/** How long an address that flooded a connection gets no new one, ms. */
const BARRED_MS = 1_000
/** Addresses remembered at most: of more, the first are forgiven. */
const MAX_REMEMBERED = 10_000

/**
 * Addresses that sent so many requests ahead on a connection that it was cut. What such a connection has sent by then is parsed all
 * the same, 1,400 requests in 40 ms: who opens the next one at once, 26 times a second, took the whole processor.
 */
export class Flooders {
  /** Until when (as of `performance.now()`), the first noted first. */
  readonly #barredUntil = new Map<string, number>()

  /** Cuts the connection, and refuses the address new ones for a moment. */
  cut(socket: Socket): void {
    const address = callerOf(socket.remoteAddress)
    socket.destroy()
    this.#barredUntil.delete(address)
    this.#barredUntil.set(address, performance.now() + BARRED_MS)
    if (this.#barredUntil.size <= MAX_REMEMBERED) return
    const [first] = this.#barredUntil.keys()
    if (first !== undefined) this.#barredUntil.delete(first)
  }

  /** Has `server` refuse connections of such addresses. */
  keepOut(server: Server): void {
    server.on('connection', (socket: Socket) => {
      if (this.#isBarred(callerOf(socket.remoteAddress))) socket.destroy()
    })
  }

  #isBarred(address: string): boolean {
    const until = this.#barredUntil.get(address)
    if (until === undefined) return false
    if (performance.now() < until) return true
    this.#barredUntil.delete(address)
    return false
  }
}
