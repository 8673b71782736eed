import { connect, type Socket } from 'node:net'
import { answerStatus } from '../../../bench/lib/answer.ts'

const RECEIVE_BYTES = 2_048

/** The owner of a connection, which it notifies. */
export interface ConnectionOwner {
  port: number
  onOpen(connection: Connection): void
  /** Its request is answered, it can take another. */
  onIdle(connection: Connection): void
  onAnswer(connection: Connection, status: number): void
  /** It ended with a request on it that will not be answered. */
  onBroken(connection: Connection): void
  /** It ended; `wasOpen` false when the server did not accept it. */
  onClosed(connection: Connection, wasOpen: boolean): void
}

/** One keep-alive connection with one request in flight at most. */
export class Connection {
  readonly #owner: ConnectionOwner
  readonly #socket: Socket
  #partial: Buffer | undefined
  #inFlight = false
  /** Of the request in flight, for its owner. */
  dueAt = 0
  sentAt = 0
  site = 0
  /** Set by its owner after the first answer. */
  isProved = false
  events = 0

  constructor(owner: ConnectionOwner) {
    this.#owner = owner
    const received = Buffer.allocUnsafe(RECEIVE_BYTES)
    let wasOpen = false
    this.#socket = connect({
      host: '127.0.0.1',
      port: owner.port,
      noDelay: true,
      onread: {
        buffer: received,
        callback: (length) => {
          this.#onBytes(received.subarray(0, length))
          return true
        },
      },
    })
    this.#socket.on('connect', () => {
      wasOpen = true
      owner.onOpen(this)
    })
    this.#socket.on('error', () => undefined) // 'close' follows, which notifies the owner.
    this.#socket.on('close', () => {
      if (this.#inFlight) {
        this.#inFlight = false
        owner.onBroken(this)
      }
      owner.onClosed(this, wasOpen)
    })
  }

  send(bytes: Buffer): void {
    this.#inFlight = true
    this.#socket.write(bytes)
  }

  close(): void {
    this.#socket.destroy()
  }

  #onBytes(bytes: Buffer): void {
    // The server ends connections that were long idle with a 408, which answers nothing.
    if (!this.#inFlight) return
    const whole = this.#partial === undefined ? bytes : Buffer.concat([this.#partial, bytes])
    const status = answerStatus(whole)
    if (status === null) {
      this.#partial = Buffer.from(whole)
      return
    }
    this.#partial = undefined
    this.#inFlight = false
    this.#owner.onAnswer(this, status)
    this.#owner.onIdle(this)
  }
}
