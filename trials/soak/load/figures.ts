import { Histogram } from '../../../bench/lib/histogram.ts'

/** How long some answers took, ms. */
export interface Times {
  count: number
  p50Ms: number
  p99Ms: number
  maxMs: number
}

/** What the load met in a stretch of time. */
export interface LoadFigures {
  seconds: number
  /** Requests that fell due. */
  due: number
  sent: number
  /** Requests that found no free connection for so long that the sender left them. */
  givenUp: number
  /** Answers by status. */
  statuses: Record<string, number>
  /** Requests whose connection ended before the answer. */
  unanswered: number
  /** Connections that the server did not accept. */
  notConnected: number
  /** Answers 200, from the sending of the request on … */
  accepted: Times
  /** … and from when it was due. */
  acceptedFromDue: Times
  /** All other answers, from the sending on. */
  refused: Times
  /** Share of its core that the generator used. */
  generatorLoad: number
}

/** Collects figures from one taking to the next. */
export class Collector {
  readonly #startedAt = performance.now()
  readonly #processor = process.cpuUsage()
  readonly #accepted = new Histogram()
  readonly #acceptedFromDue = new Histogram()
  readonly #refused = new Histogram()
  readonly #statuses: Record<string, number> = {}
  due = 0
  sent = 0
  givenUp = 0
  unanswered = 0
  notConnected = 0

  answered(status: number, dueAt: number, sentAt: number, now: number): void {
    this.#statuses[status] = (this.#statuses[status] ?? 0) + 1
    if (status === 200) {
      this.#accepted.record((now - sentAt) * 1_000)
      this.#acceptedFromDue.record((now - dueAt) * 1_000)
    } else this.#refused.record((now - sentAt) * 1_000)
  }

  figures(): LoadFigures {
    const seconds = (performance.now() - this.#startedAt) / 1_000
    const { user, system } = process.cpuUsage(this.#processor)
    const { due, sent, givenUp, unanswered, notConnected } = this
    return {
      seconds,
      due,
      sent,
      givenUp,
      unanswered,
      notConnected,
      statuses: this.#statuses,
      accepted: timesOf(this.#accepted),
      acceptedFromDue: timesOf(this.#acceptedFromDue),
      refused: timesOf(this.#refused),
      generatorLoad: (user + system) / 1_000_000 / seconds,
    }
  }
}

const timesOf = (micros: Histogram): Times => ({
  count: micros.count,
  p50Ms: micros.percentile(0.5) / 1_000,
  p99Ms: micros.percentile(0.99) / 1_000,
  maxMs: micros.max / 1_000,
})
