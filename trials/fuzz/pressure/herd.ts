import { connect, type Socket } from 'node:net'

/** What each connection of an attack does. */
export interface Behaviour {
  /** Sent as soon as it is open; empty: nothing. */
  first: string
  /** Sent again and again; empty: nothing. */
  drip: string
  /** False: what the server sends stays in the pipe. */
  isReading: boolean
  /** The address that they come from; the one that all on this machine share when absent. */
  from?: string
}

/** For attackers that must not be taken for the healthy senders of this machine: callers are distinguished by their address. */
export const ANOTHER_ADDRESS = '127.0.0.2'

const DRIP_INTERVAL_MS = 1_000
/** Connections opened in one turn: a server cannot accept all at once, and its queue is short. */
const OPENED_AT_ONCE = 250
const TURN_MS = 25

/** Connections that do as little as keeps them open. One that the server ends is opened again, as an attacker would. */
export class Herd {
  readonly #port: number
  readonly #behaviour: Behaviour
  readonly #size: number
  readonly #sockets = new Set<Socket>()
  readonly #timers: NodeJS.Timeout[] = []
  #isOver = false
  /** Connections that the server ended. */
  cut = 0
  /** Connections that could not be opened. */
  refused = 0
  /** First answers of connections, by status. */
  readonly statuses: Record<string, number> = {}

  constructor(port: number, size: number, behaviour: Behaviour) {
    this.#port = port
    this.#size = size
    this.#behaviour = behaviour
    this.#timers.push(setInterval(() => this.#fill(), TURN_MS))
    const { drip } = behaviour
    if (drip === '') return
    this.#timers.push(
      setInterval(() => {
        for (const socket of this.#sockets) {
          // What the server does not take is not kept here: it is its memory that is under attack.
          if (socket.writableLength === 0) socket.write(drip)
        }
      }, DRIP_INTERVAL_MS),
    )
  }

  /** Connections that are open now. */
  get open(): number {
    return this.#sockets.size
  }

  end(): void {
    this.#isOver = true
    for (const timer of this.#timers) clearInterval(timer)
    for (const socket of this.#sockets) socket.resetAndDestroy()
  }

  #fill(): void {
    const missing = Math.min(OPENED_AT_ONCE, this.#size - this.#sockets.size)
    for (let i = 0; i < missing; i++) this.#add()
  }

  #add(): void {
    const { first, isReading, from } = this.#behaviour
    const address = from === undefined ? {} : { localAddress: from }
    const socket = connect({ host: '127.0.0.1', port: this.#port, noDelay: true, ...address })
    this.#sockets.add(socket)
    let isOpen = false
    socket.on('connect', () => {
      isOpen = true
      if (first !== '') socket.write(first)
      if (isReading) socket.once('data', (bytes) => this.#note(bytes.toString('latin1', 9, 12))).resume()
      else socket.pause()
    })
    socket.on('error', () => undefined)
    socket.on('close', () => {
      this.#sockets.delete(socket)
      if (this.#isOver) return
      if (isOpen) this.cut++
      else this.refused++
    })
  }

  #note(status: string): void {
    this.statuses[status] = (this.statuses[status] ?? 0) + 1
  }
}
