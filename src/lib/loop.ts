import { type Clock, monotonicOf } from './clock.ts'
import { asError } from './errors.ts'

export interface LoopOptions {
  name: string
  clock: Clock
  /** Milliseconds from the end of one tick to the start of the next. */
  intervalMs: number
  /** One round of work. Tests call it directly. */
  tick: () => Promise<void>
  onError: (error: Error, loop: string) => void
}

/**
 * A background job: `start()`, one `tick()`, and a `stop()` that waits for the current tick. A tick that throws is reported and
 * the loop continues; ticks never overlap.
 */
export class Loop {
  readonly name: string
  readonly intervalMs: number
  #lastSuccessAt: number | undefined
  readonly #clock: Clock
  readonly #tick: () => Promise<void>
  readonly #onError: LoopOptions['onError']
  #timer: NodeJS.Timeout | undefined
  #running: Promise<void> | undefined
  #started = false

  constructor(options: LoopOptions) {
    this.name = options.name
    this.intervalMs = options.intervalMs
    this.#clock = options.clock
    this.#tick = options.tick
    this.#onError = options.onError
  }

  start(): void {
    if (this.#started) return
    this.#started = true
    this.#lastSuccessAt ??= monotonicOf(this.#clock)
    this.#schedule()
  }

  /** Runs one tick now, or joins the current one. */
  async tick(): Promise<void> {
    this.#running ??= this.#runOnce()
    await this.#running
  }

  /**
   * How much longer ago than planned the last tick succeeded, ms; 0 for a loop that was never started. Monotonic, so setting the
   * clock makes no loop late.
   */
  lagMs(): number {
    if (this.#lastSuccessAt === undefined) return 0
    return Math.max(0, monotonicOf(this.#clock) - this.#lastSuccessAt - this.intervalMs)
  }

  async stop(): Promise<void> {
    this.#started = false
    clearTimeout(this.#timer)
    await this.#running
  }

  #schedule(): void {
    if (!this.#started) return
    // A loop that was stopped and started again during a tick already has a timer when that tick ends.
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => {
      void this.tick().then(() => this.#schedule())
    }, this.intervalMs)
  }

  async #runOnce(): Promise<void> {
    try {
      // Behind a promise, so that `#running` is set before a tick that throws at once clears it.
      await Promise.resolve().then(this.#tick)
      this.#lastSuccessAt = monotonicOf(this.#clock)
    } catch (thrown) {
      this.#onError(asError(thrown), this.name)
    } finally {
      this.#running = undefined
    }
  }
}
