import { memoryIfAlive } from '../../bench/lib/machine.ts'

const INTERVAL_MS = 250

/** Resident memory of a process while it is under attack. */
export class MemoryWatch {
  readonly #pid: number
  readonly #samples: { share: number; mb: number }[] = []
  readonly #timer: NodeJS.Timeout
  /** Longest time in which this process did nothing, or the same thing, ms: the attacker's own stall, not the server's. */
  longestStallMs = 0

  /** @param progress share of the requests that have been sent, 0 to 1 */
  constructor(pid: number, progress: () => number) {
    this.#pid = pid
    let lookedAt = performance.now()
    this.#timer = setInterval(() => {
      this.longestStallMs = Math.max(this.longestStallMs, performance.now() - lookedAt - INTERVAL_MS)
      lookedAt = performance.now()
      this.#samples.push({ share: progress(), mb: memoryIfAlive(this.#pid) })
    }, INTERVAL_MS)
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  /** Median of the samples between two shares of the requests, MB; NaN without any. */
  between(from: number, to: number): number {
    const some = this.#samples.filter(({ share }) => share >= from && share < to).map(({ mb }) => mb)
    return some.sort((a, b) => a - b)[Math.floor(some.length / 2)] ?? Number.NaN
  }

  get peakMb(): number {
    return Math.max(0, ...this.#samples.map(({ mb }) => mb))
  }
}
