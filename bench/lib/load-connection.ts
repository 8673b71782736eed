import { connect, type Socket } from 'node:net'
import { answerStatus } from './answer.ts'
import { KEY_LENGTH, type RequestTemplate } from './request-template.ts'

const RECEIVE_BYTES = 16_384

/** What the connections of one run share. */
export interface LoadSource {
  request: RequestTemplate
  connectionPerRequest: boolean
  /** The current time as the digits to send. */
  time(): Buffer
  /** The bytes of the next key in turn. */
  nextKey(): Buffer
  onAnswer(status: number, latencyMs: number): void
  /** A connection ended with a request on it that was not answered. */
  onBroken(): void
  /** Nothing listens: the run cannot go on. */
  onError(error: Error): void
}

/** One keep-alive connection with one request in flight, over and over until `finish` is called. */
export class LoadConnection {
  readonly #source: LoadSource
  readonly #port: number
  /** Its own copy, because the key and time are written into it; only ever while nothing is in flight. */
  readonly #bytes: Buffer
  readonly #received = Buffer.allocUnsafe(RECEIVE_BYTES)
  readonly #finished = Promise.withResolvers<void>()
  #socket: Socket | undefined
  #partial: Buffer | undefined
  #time: Buffer | undefined
  #sentAt = 0
  #inFlight = false
  #finishing = false

  constructor(source: LoadSource, port: number) {
    this.#source = source
    this.#port = port
    this.#bytes = Buffer.from(source.request.bytes)
  }

  open(): void {
    // `onread` with a buffer of our own skips the stream machinery: the generator has to be cheaper than any server.
    const socket: Socket = connect({
      host: '127.0.0.1',
      port: this.#port,
      noDelay: true,
      onread: {
        buffer: this.#received,
        callback: (length) => this.#onBytes(socket, this.#received.subarray(0, length)),
      },
    })
    this.#socket = socket
    let connected = false
    socket.on('connect', () => {
      connected = true
      this.#send(socket)
    })
    socket.on('error', (error) => {
      if (!connected) this.#source.onError(error)
    })
    socket.on('close', () => this.#onClose(socket))
  }

  /** Resolves when the request in flight is answered, or at the latest after `timeoutMs`. */
  async finish(timeoutMs: number): Promise<void> {
    this.#finishing = true
    if (!this.#inFlight) this.#end()
    const timer = setTimeout(() => this.#socket?.destroy(), timeoutMs)
    await this.#finished.promise
    clearTimeout(timer)
  }

  #send(socket: Socket): void {
    if (this.#finishing) {
      this.#end()
      return
    }
    const { request } = this.#source
    this.#source.nextKey().copy(this.#bytes, request.keyOffset, 0, KEY_LENGTH)
    const time = this.#source.time()
    if (time !== this.#time) {
      for (const offset of request.timeOffsets) time.copy(this.#bytes, offset)
      this.#time = time
    }
    this.#inFlight = true
    this.#sentAt = performance.now()
    socket.write(this.#bytes)
  }

  #onBytes(socket: Socket, bytes: Buffer): boolean {
    const whole = this.#partial === undefined ? bytes : Buffer.concat([this.#partial, bytes])
    const status = answerStatus(whole)
    // The receive buffer is written over by the next read, so what has to stay is copied.
    this.#partial = status === null ? Buffer.from(whole) : undefined
    if (status === null) return true
    this.#inFlight = false
    this.#source.onAnswer(status, performance.now() - this.#sentAt)
    // A reset leaves no port in TIME_WAIT; thousands of closed connections a second would use all of them up.
    if (this.#source.connectionPerRequest) socket.resetAndDestroy()
    else this.#send(socket)
    return true
  }

  #onClose(socket: Socket): void {
    if (socket !== this.#socket) return
    if (this.#inFlight) this.#source.onBroken()
    this.#inFlight = false
    this.#partial = undefined
    if (this.#finishing) this.#finished.resolve()
    else this.open()
  }

  #end(): void {
    this.#socket?.destroy()
    this.#finished.resolve()
  }
}
