import { setTimeout as sleep } from 'node:timers/promises'
import { Histogram } from '../../../bench/lib/histogram.ts'
import { asError } from '../../../src/lib/index.ts'

export interface ReaderPlan {
  serverUrl: string
  siteIds: readonly string[]
  /** Reports that are asked for, while no more than a page's are awaited: those who wait do not ask for more, and are refused if they do. */
  reportsPerSecond: number
}

/** What those who look at the service met in a stretch of time. */
export interface ReaderFigures {
  reports: number
  reportP50Ms: number
  reportP99Ms: number
  /** Messages on the event stream. */
  streamed: number
  /** What went wrong, in the order in which it did. */
  failures: string[]
}

const REPORTS = [
  'overview?hours=24',
  'timeseries?metric=events&hours=24&group_by=event_name',
  'timeseries?metric=latency&hours=24',
  'export.csv?metric=executions&hours=24',
]
const MOST_AWAITED = 4
const FAILURES_KEPT = 10
const AGAIN_MS = 100

/** Reads reports at a steady pace, and listens to the event stream. */
export class Readers {
  readonly #plan: ReaderPlan
  readonly #stopping = new AbortController()
  readonly #stream: Promise<void>
  readonly #timer: NodeJS.Timeout
  readonly #underWay = new Set<Promise<void>>()
  #asked = 0
  #micros = new Histogram()
  #streamed = 0
  #failures: string[] = []

  constructor(plan: ReaderPlan) {
    this.#plan = plan
    this.#stream = this.#listen()
    this.#timer = setInterval(() => {
      if (this.#underWay.size >= MOST_AWAITED) return
      const reading = this.#readReport().finally(() => this.#underWay.delete(reading))
      this.#underWay.add(reading)
    }, 1_000 / plan.reportsPerSecond)
  }

  take(): ReaderFigures {
    const micros = this.#micros
    const figures = {
      reports: micros.count,
      reportP50Ms: micros.percentile(0.5) / 1_000,
      reportP99Ms: micros.percentile(0.99) / 1_000,
      streamed: this.#streamed,
      failures: this.#failures,
    }
    this.#micros = new Histogram()
    this.#streamed = 0
    this.#failures = []
    return figures
  }

  async end(): Promise<void> {
    clearInterval(this.#timer)
    await Promise.all(this.#underWay)
    this.#stopping.abort()
    await this.#stream
  }

  async #readReport(): Promise<void> {
    const { serverUrl, siteIds } = this.#plan
    const number = this.#asked++
    const site = siteIds[number % siteIds.length]
    const report = REPORTS[number % REPORTS.length]
    const sentAt = performance.now()
    try {
      const response = await fetch(`${serverUrl}/api/monitoring/sites/${site}/${report}`)
      const text = await response.text()
      this.#micros.record((performance.now() - sentAt) * 1_000)
      if (response.status !== 200) this.#fail(`${report}: ${response.status} ${text.slice(0, 200)}`)
    } catch (thrown) {
      this.#fail(`${report}: ${asError(thrown).message}`)
    }
  }

  async #listen(): Promise<void> {
    const { signal } = this.#stopping
    while (!signal.aborted) {
      try {
        const response = await fetch(`${this.#plan.serverUrl}/api/stream`, { signal })
        if (response.body === null) throw new Error(`status ${response.status}, no body`)
        const text = response.body.pipeThrough(new TextDecoderStream())
        for await (const piece of text) this.#streamed += [...piece.matchAll(/^event:/gm)].length
        if (!signal.aborted) this.#fail('the event stream ended')
      } catch (thrown) {
        if (signal.aborted) return
        this.#fail(`event stream: ${asError(thrown).message}`)
      }
      await sleep(AGAIN_MS)
    }
  }

  #fail(what: string): void {
    if (this.#failures.length < FAILURES_KEPT) this.#failures.push(what)
  }
}
