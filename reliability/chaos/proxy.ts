import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'

/**
 * What becomes of what passes: `pass` hands it on, `silent` keeps it for ever (as when a cable is pulled: nobody is told),
 * `refuse` resets whoever connects. A number hands it on that many milliseconds late.
 */
export type ProxyMode = 'pass' | 'silent' | 'refuse' | { delayMs: number }

/** A wire between a program and its database, which can be cut. */
export class TcpProxy {
  readonly port: number
  readonly #server: Server
  readonly #wires = new Set<Wire>()
  #mode: ProxyMode = 'pass'

  private constructor(server: Server, port: number, targetPort: number) {
    this.#server = server
    this.port = port
    server.on('connection', (socket) => this.#connect(socket, targetPort))
  }

  static async to(targetPort: number): Promise<TcpProxy> {
    const server = createServer({ allowHalfOpen: true }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const address = server.address()
    if (address === null || typeof address === 'string') throw new Error('the proxy has no port')
    return new TcpProxy(server, address.port, targetPort)
  }

  set mode(mode: ProxyMode) {
    this.#mode = mode
  }

  /** Resets all connections there are, on both sides. */
  reset(): void {
    for (const wire of this.#wires) wire.reset()
  }

  /**
   * What was silent stays silent, as connections whose packets went nowhere do; only new ones pass. The database's ends of
   * the old ones stay open, too: it does not know that nobody is there any more.
   */
  forget(): void {
    for (const wire of this.#wires) wire.forget()
    this.#mode = 'pass'
  }

  async close(): Promise<void> {
    this.#server.close()
    this.reset()
    await once(this.#server, 'close')
  }

  #connect(near: Socket, targetPort: number): void {
    if (this.#mode === 'refuse') {
      near.on('error', () => undefined)
      near.resetAndDestroy()
      return
    }
    const wire = new Wire(
      near,
      connect({ port: targetPort, host: '127.0.0.1', noDelay: true, allowHalfOpen: true }),
      () => this.#mode,
    )
    this.#wires.add(wire)
    void wire.ended.then(() => this.#wires.delete(wire))
  }
}

/** One connection through the proxy. */
class Wire {
  readonly ended: Promise<void>
  readonly #sockets: readonly [Socket, Socket]
  readonly #mode: () => ProxyMode
  #isForgotten = false

  constructor(near: Socket, far: Socket, mode: () => ProxyMode) {
    this.#sockets = [near, far]
    this.#mode = mode
    this.#carry(near, far)
    this.#carry(far, near)
    const closed = [near, far].map((socket) => new Promise<void>((resolve) => socket.once('close', () => resolve())))
    this.ended = Promise.all(closed).then(() => undefined)
  }

  reset(): void {
    for (const socket of this.#sockets) socket.resetAndDestroy()
  }

  forget(): void {
    this.#isForgotten = true
  }

  #carry(from: Socket, to: Socket): void {
    from.on('error', () => undefined)
    // In the order in which they came, however late each is.
    let last = Promise.resolve()
    const later = (work: () => void): void => {
      const mode = this.#isForgotten ? 'silent' : this.#mode()
      if (mode === 'silent') {
        // What once was lost stays lost, and so does all that comes after it.
        this.#isForgotten = true
        return
      }
      const delay = typeof mode === 'object' ? mode.delayMs : 0
      const due = new Promise<void>((resolve) => (delay === 0 ? resolve() : setTimeout(resolve, delay)))
      last = Promise.all([last, due]).then(work)
    }
    from.on('data', (bytes) => {
      later(() => {
        if (!to.destroyed) to.write(bytes)
      })
    })
    from.on('end', () => later(() => to.end()))
    from.on('close', () => later(() => to.destroy()))
  }
}
