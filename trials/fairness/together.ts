import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { Random } from '../../testkit/random.ts'
import type { HostileKind } from './kinds.ts'

/** Notes what became of a request: its status, or null for no answer. */
export type NoteAnswer = (status: number | null) => void

/** One stretch of hostile requests. */
export interface HostilePlan {
  url: string
  key: string
  /** Name of one of `hostileKinds`. */
  kind: string
  seconds: number
  seed: number
}

/** How long a wave's bodies may take to be taken up, and its answers to come. */
const UPLOAD_MS = 10_000
const ANSWER_MS = 30_000
const LAST_BYTES = 8
/** Connections opened in one go. */
const OPENED_AT_ONCE = 50

/**
 * Sends waves of requests, one on each connection: all of every body but its last bytes, and those at the same moment, so
 * that the server has as many whole bodies at once as there are connections.
 */
export async function sendTogether(kind: HostileKind, plan: HostilePlan, note: NoteAnswer): Promise<void> {
  const { port, hostname } = new URL(plan.url)
  const random = new Random(plan.seed)
  const body = Buffer.from(kind.body(0, random))
  const head = Buffer.from(
    [
      'POST /ingest HTTP/1.1',
      'Host: 127.0.0.1',
      'Content-Type: application/json',
      `X-Service-Key: ${plan.key}`,
      `Content-Length: ${body.length}`,
      'Connection: close\r\n\r\n',
    ].join('\r\n'),
  )
  const most = Buffer.concat([head, body.subarray(0, -LAST_BYTES)])
  const last = body.subarray(-LAST_BYTES)
  const waveMs = (kind.connections / kind.perSecond) * 1_000
  const endsAt = performance.now() + plan.seconds * 1_000
  while (performance.now() < endsAt) {
    const waveEndsAt = performance.now() + waveMs
    const waves: Wave[] = []
    for (let index = 0; index < kind.connections; index++) {
      if (index % OPENED_AT_ONCE === 0) await sleep(1)
      waves.push(new Wave(Number(port), hostname, most))
    }
    await Promise.race([Promise.all(waves.map(({ uploaded }) => uploaded)), sleep(UPLOAD_MS)])
    for (const wave of waves) wave.finish(last)
    const statuses = await Promise.all(waves.map((wave) => wave.status()))
    for (const status of statuses) note(status)
    await sleep(Math.max(0, waveEndsAt - performance.now()))
  }
}

/** One connection of a wave. */
class Wave {
  readonly #socket: Socket
  #received = ''
  /** Resolves when the answer has begun, or the connection has ended without one. */
  readonly #answered: Promise<unknown>
  /** Resolves when the kernel has taken the bytes, or the connection ended. */
  readonly uploaded: Promise<unknown>

  constructor(port: number, host: string, bytes: Buffer) {
    this.#socket = connect({ port, host, noDelay: true })
    this.#socket.setEncoding('latin1')
    this.#socket.on('data', (text: string) => {
      this.#received += text
    })
    // One that is refused is not closed at once: what is left of its body is read past.
    this.#answered = new Promise((resolve) => this.#socket.once('data', resolve).once('close', resolve))
    // A refusal before the end of the body comes with a reset, which 'close' follows. (`once` of node:events would throw it.)
    this.#socket.on('error', () => undefined)
    this.uploaded = Promise.race([new Promise((resolve) => this.#socket.write(bytes, resolve)), this.#answered])
  }

  finish(bytes: Buffer): void {
    if (this.#received === '' && this.#socket.writable) this.#socket.write(bytes)
  }

  /** The status of the answer; null: there was none. */
  async status(): Promise<number | null> {
    await Promise.race([this.#answered, sleep(ANSWER_MS, undefined, { ref: false })])
    this.#socket.destroy()
    const status = /^HTTP\/1\.1 (\d{3})/.exec(this.#received)?.[1]
    return status === undefined ? null : Number(status)
  }
}
