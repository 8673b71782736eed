import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { Server } from 'node:http'
import { connect, type Socket } from 'node:net'
import type { TestContext } from 'node:test'
import type { SiteKey } from './api.ts'
import { until } from './until.ts'

/** A connection that has sent an ingest request except for its last byte. An answer may come before that. */
export class HeldBody {
  readonly #socket: Socket
  readonly #last: string
  #answer = ''
  readonly #closed: Promise<unknown>

  constructor(url: string, site: SiteKey, body: string) {
    const { hostname, port } = new URL(url)
    this.#socket = connect(Number(port), hostname)
    this.#socket.on('data', (chunk: Buffer) => {
      this.#answer += chunk.toString()
    })
    // A connection cut after its answer may be reset while bytes are in flight.
    this.#socket.on('error', () => undefined)
    this.#closed = new Promise((resolve) => this.#socket.once('close', resolve))
    const head = `POST /ingest HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nX-Service-Key: ${site.ingest_key}`
    this.#socket.write(`${head}\r\nConnection: close\r\nContent-Length: ${body.length}\r\n\r\n${body.slice(0, -1)}`)
    this.#last = body.slice(-1)
  }

  /** The status answered so far; undefined while the server waits for the last byte. */
  get status(): string | undefined {
    return /^HTTP\/1\.1 (\d+)/.exec(this.#answer)?.[1]
  }

  /** Resolves when all but the last byte is sent, or the connection is cut. */
  async sent(): Promise<void> {
    await until('the body has left', () => {
      const { writableLength, destroyed } = this.#socket
      return writableLength === 0 || destroyed || this.#answer !== '' || undefined
    })
  }

  /** Sends the last byte, unless already answered, and resolves with the status, or `cut`. */
  async finish(): Promise<string> {
    if (this.#answer === '' && this.#socket.writable) this.#socket.write(this.#last)
    await this.#closed
    return this.status ?? 'cut'
  }

  /** Disconnects. */
  leave(): void {
    this.#socket.destroy()
  }
}

const waitsForBodies = (message: unknown) => {
  ;(message as { server: Server }).server.requestTimeout = 0
}

/**
 * Lifts the request timeout of 30 s for the servers of this process, because a busy machine needs longer for a hundred bodies of 1 MB.
 */
export function waitForBodies(t: TestContext): void {
  subscribe('http.server.request.start', waitsForBodies)
  t.after(() => unsubscribe('http.server.request.start', waitsForBodies))
}

/** The option of Node that does the same for a process. */
export const WAITS_FOR_BODIES = `--import=data:text/javascript,${encodeURIComponent(
  "import { subscribe } from 'node:diagnostics_channel'; subscribe('http.server.request.start', ({ server }) => { server.requestTimeout = 0 })",
)}`
