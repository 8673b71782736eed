import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { answerCalls } from '../../testkit/processes/worker-calls.ts'
import { answerStatus } from '../lib/answer.ts'
import { Arrivals } from '../lib/arrivals.ts'
import { Histogram } from '../lib/histogram.ts'
import type { LoadResult } from '../lib/http-load.ts'
import { KEY_LENGTH, type RequestTemplate } from '../lib/request-template.ts'

/**
 * Requests that come at a fixed rate, whatever the server does, as those of many visitors do. One that finds every
 * connection taken waits for the next that is free. Its answer's time counts from when it was due, so that a server that
 * stands still is charged with all that came meanwhile.
 */
export interface SteadyPlan {
  port: number
  ratePerSecond: number
  connections: number
  warmupMs: number
  measureMs: number
  request: RequestTemplate
  key: Uint8Array
}

/** How often is looked for requests that are due: what comes earlier waits for it, with every server alike. */
const TICK_MS = 1
/** Time that is left for the last answers. */
const DRAIN_MS = 5_000
const POLL_MS = 10
const RECEIVE_BYTES = 16_384

class SteadyLoad {
  readonly #plan: SteadyPlan
  readonly #micros = new Histogram()
  readonly #statuses: Record<string, number> = {}
  /** When the requests that wait for a connection were due. */
  readonly #due: number[] = []
  readonly #idle: Connection[] = []
  #connections: Connection[] = []
  #from = Number.POSITIVE_INFINITY
  #to = Number.POSITIVE_INFINITY
  #sent = 0
  #answers = 0
  #accepted = 0

  constructor(plan: SteadyPlan) {
    this.#plan = plan
  }

  async run(): Promise<LoadResult> {
    const { connections, ratePerSecond, warmupMs, measureMs } = this.#plan
    this.#connections = await Promise.all(Array.from({ length: connections }, () => this.#connect()))
    this.#idle.push(...this.#connections)
    const began = performance.now()
    this.#from = began + warmupMs
    this.#to = this.#from + measureMs
    const arrivals = new Arrivals(began, ratePerSecond)
    const timer = setInterval(() => {
      this.#due.push(...arrivals.upTo(Math.min(performance.now(), this.#to)))
      this.#send()
    }, TICK_MS)
    await sleep(warmupMs)
    const before = process.cpuUsage()
    await sleep(measureMs)
    const { user, system } = process.cpuUsage(before)
    clearInterval(timer)
    await this.#drain()
    return this.#result((user + system) / 1_000 / measureMs)
  }

  #result(generatorLoad: number): LoadResult {
    return {
      requestsPerSecond: (this.#micros.count * 1_000) / this.#plan.measureMs,
      p50Ms: this.#micros.percentile(0.5) / 1_000,
      p99Ms: this.#micros.percentile(0.99) / 1_000,
      maxMs: this.#micros.max / 1_000,
      statuses: this.#statuses,
      answers: this.#answers,
      accepted: this.#accepted,
      unanswered: this.#sent - this.#answers + this.#due.length,
      generatorLoad,
    }
  }

  #send(): void {
    while (this.#due.length > 0) {
      // Each in its turn: one that rested for longer than the server keeps connections open is closed under its next request.
      const connection = this.#idle.shift()
      if (connection === undefined) return
      connection.send(this.#due.shift() ?? 0)
      this.#sent += 1
    }
  }

  async #connect(): Promise<Connection> {
    const { port, request, key } = this.#plan
    const connection = new Connection(port, request, key, (status, dueAt) => {
      this.#answers += 1
      if (status === 200) this.#accepted += 1
      if (dueAt >= this.#from && dueAt < this.#to) {
        this.#statuses[status] = (this.#statuses[status] ?? 0) + 1
        this.#micros.record((performance.now() - dueAt) * 1_000)
      }
      this.#idle.push(connection)
      this.#send()
    })
    await connection.opened
    return connection
  }

  async #drain(): Promise<void> {
    const deadline = performance.now() + DRAIN_MS
    while (this.#answers < this.#sent + this.#due.length && performance.now() < deadline) await sleep(POLL_MS)
    for (const connection of this.#connections) connection.close()
  }
}

/** One keep-alive connection, with one request in flight at most. */
class Connection {
  readonly opened: Promise<void>
  readonly #socket: Socket
  readonly #bytes: Buffer
  readonly #timeOffsets: readonly number[]
  #dueAt = 0

  constructor(
    port: number,
    request: RequestTemplate,
    key: Uint8Array,
    onAnswer: (status: number, dueAt: number) => void,
  ) {
    this.#bytes = Buffer.from(request.bytes)
    this.#bytes.set(key.subarray(0, KEY_LENGTH), request.keyOffset)
    this.#timeOffsets = request.timeOffsets
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    this.opened = promise
    const received = Buffer.allocUnsafe(RECEIVE_BYTES)
    let partial = Buffer.alloc(0)
    this.#socket = connect({
      host: '127.0.0.1',
      port,
      noDelay: true,
      onread: {
        buffer: received,
        callback: (length) => {
          const whole = Buffer.concat([partial, received.subarray(0, length)])
          const status = answerStatus(whole)
          partial = status === null ? whole : Buffer.alloc(0)
          if (status !== null) onAnswer(status, this.#dueAt)
          return true
        },
      },
    })
    // One that ends later leaves its request unanswered, which the result shows.
    this.#socket.on('connect', resolve).on('error', reject)
  }

  send(dueAt: number): void {
    this.#dueAt = dueAt
    for (const offset of this.#timeOffsets) this.#bytes.write(String(Date.now()), offset)
    this.#socket.write(this.#bytes)
  }

  close(): void {
    this.#socket.destroy()
  }
}

const calls = { run: (plan: SteadyPlan): Promise<LoadResult> => new SteadyLoad(plan).run() }
export type SteadyCalls = typeof calls

answerCalls(calls)
