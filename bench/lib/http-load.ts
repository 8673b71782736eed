import { setTimeout as sleep } from 'node:timers/promises'
import { Histogram } from './histogram.ts'
import { LoadConnection } from './load-connection.ts'
import { KEY_LENGTH, type RequestTemplate } from './request-template.ts'

const CLOCK_INTERVAL_MS = 1_000
const DRAIN_TIMEOUT_MS = 10_000

export interface LoadPlan {
  /** Servers that take part; the connections are spread over them evenly. */
  ports: readonly [number, ...number[]]
  connections: number
  /** Load that is not measured, at the start. */
  warmupMs: number
  measureMs: number
  request: RequestTemplate
  /** As `packKeys` lays them out; requests take them round-robin. */
  keys: Uint8Array
  /** Opens a new connection for each request, for answers that end theirs. */
  connectionPerRequest: boolean
}

export interface LoadResult {
  requestsPerSecond: number
  p50Ms: number
  p99Ms: number
  maxMs: number
  /** Answers by status while measuring. */
  statuses: Record<string, number>
  /** Answers over the whole run, warm-up and the last ones in flight included. */
  answers: number
  /** Those of them with status 200. */
  accepted: number
  /** Requests whose connection ended before the answer, over the whole run. */
  unanswered: number
  /** Share of its core that the generator used while measuring; near 1 it is the generator that was measured. */
  generatorLoad: number
}

/** Sends what `plan` says, as fast as it is answered. @throws Error when nothing listens on a port. */
export async function runLoad(plan: LoadPlan): Promise<LoadResult> {
  const failed = Promise.withResolvers<never>()
  const tally = new Tally()
  const keys = Buffer.from(plan.keys.buffer, plan.keys.byteOffset, plan.keys.byteLength)
  let keyAt = 0
  let time = Buffer.from(String(Date.now()))
  const clock = setInterval(() => {
    time = Buffer.from(String(Date.now()))
  }, CLOCK_INTERVAL_MS)
  const source = {
    request: plan.request,
    connectionPerRequest: plan.connectionPerRequest,
    time: () => time,
    nextKey() {
      const key = keys.subarray(keyAt, keyAt + KEY_LENGTH)
      keyAt = keyAt + KEY_LENGTH >= keys.length ? 0 : keyAt + KEY_LENGTH
      return key
    },
    onAnswer: (status: number, latencyMs: number) => tally.onAnswer(status, latencyMs),
    onBroken: () => tally.onBroken(),
    onError: (error: Error) => failed.reject(error),
  }
  const connections = Array.from({ length: plan.connections }, (_, index) => {
    const [first] = plan.ports
    return new LoadConnection(source, plan.ports[index % plan.ports.length] ?? first)
  })
  for (const connection of connections) connection.open()
  const work = async () => {
    await sleep(plan.warmupMs)
    tally.start()
    await sleep(plan.measureMs)
    tally.stop()
    await Promise.all(connections.map((connection) => connection.finish(DRAIN_TIMEOUT_MS)))
    return tally.result()
  }
  try {
    return await Promise.race([work(), failed.promise])
  } finally {
    clearInterval(clock)
  }
}

class Tally {
  readonly #micros = new Histogram()
  readonly #statuses = new Map<number, number>()
  #answers = 0
  #accepted = 0
  #unanswered = 0
  #measuring = false
  #startedAt = 0
  #seconds = 0
  #cpu = process.cpuUsage()
  #generatorLoad = 0

  onAnswer(status: number, latencyMs: number): void {
    this.#answers += 1
    if (status === 200) this.#accepted += 1
    if (!this.#measuring) return
    this.#statuses.set(status, (this.#statuses.get(status) ?? 0) + 1)
    this.#micros.record(latencyMs * 1_000)
  }

  onBroken(): void {
    this.#unanswered += 1
  }

  start(): void {
    this.#measuring = true
    this.#startedAt = performance.now()
    this.#cpu = process.cpuUsage()
  }

  stop(): void {
    this.#measuring = false
    this.#seconds = (performance.now() - this.#startedAt) / 1_000
    const { user, system } = process.cpuUsage(this.#cpu)
    this.#generatorLoad = (user + system) / 1_000_000 / this.#seconds
  }

  result(): LoadResult {
    return {
      requestsPerSecond: this.#micros.count / this.#seconds,
      p50Ms: this.#micros.percentile(0.5) / 1_000,
      p99Ms: this.#micros.percentile(0.99) / 1_000,
      maxMs: this.#micros.max / 1_000,
      statuses: Object.fromEntries(this.#statuses),
      answers: this.#answers,
      accepted: this.#accepted,
      unanswered: this.#unanswered,
      generatorLoad: this.#generatorLoad,
    }
  }
}
