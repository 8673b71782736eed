import { OverloadedError } from '../http/index.ts'
import { invalidRequest } from '../lib/index.ts'

/** What a report that a user requested may cost. */
export interface ReportLimits {
  /** Time for reading, ms. */
  ms: number
  /** Sums read, over all its statements. */
  rows: number
}

export const REPORT_LIMITS: ReportLimits = { ms: 10_000, rows: 500_000 }

const RETRY_AFTER_SECONDS = 30

/** What is left of a report's limits. */
export class ReadBudget {
  readonly #limits: ReportLimits
  readonly #endsAt: number
  #rows = 0

  constructor(limits: ReportLimits) {
    this.#limits = limits
    this.#endsAt = performance.now() + limits.ms
  }

  /** Rows that may still be read, and one more that shows that there are more. */
  get most(): number {
    return this.#limits.rows - this.#rows + 1
  }

  /** @throws OverloadedError before a statement for which there is no time left. */
  begin(): void {
    if (performance.now() >= this.#endsAt) throw tooSlow(this.#limits)
  }

  /** @throws AppError `invalid_request` when so many more rows are too many. */
  spend(rows: number): void {
    this.#rows += rows
    if (this.#rows <= this.#limits.rows) return
    throw invalidRequest(
      '/from',
      `begins a window of more than ${this.#limits.rows} counts, more than a report adds up: choose a shorter one, or a filter`,
    )
  }
}

export const tooSlow = ({ ms }: ReportLimits): OverloadedError =>
  new OverloadedError(
    `The report was not done within ${ms / 1_000} s: choose a shorter window, or try again when less is asked`,
    RETRY_AFTER_SECONDS,
  )
