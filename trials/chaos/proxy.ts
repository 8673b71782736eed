import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { listen } from '../../testkit/listeners.ts'

/**
 * What becomes of what passes: `pass` hands it on, `silent` keeps it for ever (as when a cable is pulled: neither side notices),
 * `refuse` resets new connections. `delayMs` hands it on that many milliseconds late; with `from`, only from when these texts
 * have come one after the other on their way to the database, the last of them included. `muteFrom` hands those on, and keeps the
 * answers to the last of them and all that follows.
 */
export type ProxyMode =
  | 'pass'
  | 'silent'
  | 'refuse'
  | { delayMs: number; from?: readonly string[] }
  | { muteFrom: readonly string[] }

/** How long the database's end of a stranded connection stays open after all that was under way has arrived. */
const STRANDED_MS = 1_000

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
    const server = createServer({ allowHalfOpen: true })
    return new TcpProxy(server, await listen(server), targetPort)
  }

  set mode(mode: ProxyMode) {
    this.#mode = mode
    for (const wire of this.#wires) wire.met = 0
  }

  /** Whether the texts of the mode were met on a connection that is open. */
  get hasMet(): boolean {
    return [...this.#wires].some((wire) => wire.hasMet)
  }

  /** Resets all connections there are, on both sides. */
  reset(): void {
    for (const wire of this.#wires) wire.reset()
  }

  /**
   * What was silent stays silent, as connections whose packets went nowhere do; only new ones pass. The database's ends of
   * the old ones stay open, too: it does not know that the other side is gone.
   */
  forget(): void {
    for (const wire of this.#wires) wire.forget()
    this.#mode = 'pass'
  }

  /**
   * Resets all connections on the program's side alone. What it had sent still arrives, as late as it is then, but the answer
   * is lost.
   */
  strand(): void {
    for (const wire of this.#wires) wire.strand()
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
  /** How many texts of the mode have been met on their way to the database. */
  met = 0
  readonly #sockets: readonly [Socket, Socket]
  readonly #mode: () => ProxyMode
  #isForgotten = false
  #isStranded = false

  constructor(near: Socket, far: Socket, mode: () => ProxyMode) {
    this.#sockets = [near, far]
    this.#mode = mode
    this.#carry(near, far)
    this.#carry(far, near, { answers: true })
    const closed = [near, far].map((socket) => new Promise<void>((resolve) => socket.once('close', () => resolve())))
    this.ended = Promise.all(closed).then(() => undefined)
  }

  reset(): void {
    for (const socket of this.#sockets) socket.resetAndDestroy()
  }

  forget(): void {
    this.#isForgotten = true
  }

  strand(): void {
    this.#isStranded = true
    this.#sockets[0].resetAndDestroy()
  }

  #carry(from: Socket, to: Socket, { answers = false } = {}): void {
    from.on('error', () => undefined)
    // In the order in which they came, however late each is.
    let last = Promise.resolve()
    const later = (work: () => void): void => {
      const mode = this.#isForgotten ? 'silent' : this.#mode()
      if (mode === 'silent' || (this.hasMet && answers && isMuting(mode))) {
        // What once was lost stays lost, and so does all that comes after it.
        this.#isForgotten = true
        return
      }
      const delay = this.#delayIn(mode)
      const due = new Promise<void>((resolve) => (delay === 0 ? resolve() : setTimeout(resolve, delay)))
      last = Promise.all([last, due]).then(work)
    }
    from.on('data', (bytes: Buffer) => {
      if (!answers) this.#look(bytes)
      later(() => {
        if (!to.destroyed) to.write(bytes)
      })
    })
    from.on('end', () => later(() => to.end()))
    from.on('close', () => {
      later(() => {
        if (this.#isStranded && !answers) setTimeout(() => to.destroy(), STRANDED_MS)
        else to.destroy()
      })
    })
  }
  get hasMet(): boolean {
    const texts = textsOf(this.#mode())
    return texts.length > 0 && this.met >= texts.length
  }

  #look(bytes: Buffer): void {
    const text = textsOf(this.#mode())[this.met]
    if (text !== undefined && bytes.includes(text)) this.met++
  }

  #delayIn(mode: ProxyMode): number {
    if (typeof mode === 'string' || isMuting(mode)) return 0
    return mode.from === undefined || this.hasMet ? mode.delayMs : 0
  }
}

const isMuting = (mode: ProxyMode): mode is { muteFrom: readonly string[] } =>
  typeof mode === 'object' && 'muteFrom' in mode

const textsOf = (mode: ProxyMode): readonly string[] =>
  typeof mode === 'string' ? [] : isMuting(mode) ? mode.muteFrom : (mode.from ?? [])
