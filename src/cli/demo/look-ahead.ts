import { isDeepStrictEqual } from 'node:util'
import { floorTo, HOUR } from '../../lib/index.ts'
import type { Run } from '../../probes/index.ts'

/** How far ahead a probe is run: less than the shortest incident of the history, more than an alert takes to open or resolve. */
const AHEAD_MS = HOUR

/**
 * Saves runs of a probe that judges counts: two equal runs without a fault make those between them unnecessary. When they differ, the
 * interval between them is halved until the moment of the change is found. A history needs a fifth of the runs this way.
 */
export class LookAhead {
  readonly #make: (at: number) => Promise<Run>
  readonly #interval: number
  /** The latest run up to now, and runs made ahead, oldest first. */
  #last: Run | undefined
  #ahead: Run[] = []

  /**
   * @param make runs the probe as of a time, epoch ms; its result must depend on nothing else
   * @param interval between the calls of `at`, ms; runs ahead are made at times that will be asked for
   */
  constructor(make: (at: number) => Promise<Run>, interval: number) {
    this.#make = make
    this.#interval = interval
  }

  /** @param until end of the times that will be asked for, epoch ms */
  async at(time: number, until: number): Promise<Run> {
    this.#passTo(time)
    if (this.#last?.executedAt === time) return this.#last
    if (this.#ahead.length === 0) {
      const later = time + floorTo(Math.min(AHEAD_MS, until - 1 - time), this.#interval)
      if (this.#last === undefined || !isCalm(this.#last) || later <= time) return this.#makeNow(time)
      this.#ahead.push(await this.#make(later))
    }
    for (;;) {
      const [next] = this.#ahead
      if (this.#last === undefined || next === undefined || !isCalm(this.#last)) return this.#makeNow(time)
      if (areAlike(this.#last, next)) return { ...this.#last, executedAt: time }
      const middle = time + floorTo((next.executedAt - time) / 2, this.#interval)
      if (middle === time) return this.#makeNow(time)
      this.#ahead.unshift(await this.#make(middle))
    }
  }

  #passTo(time: number): void {
    for (;;) {
      const [next] = this.#ahead
      if (next === undefined || next.executedAt > time) return
      this.#last = next
      this.#ahead.shift()
    }
  }

  async #makeNow(time: number): Promise<Run> {
    this.#last = await this.#make(time)
    return this.#last
  }
}

/** Saves runs of a probe whose target changes only with releases: after two equal runs, the next is made after a release. */
export class BetweenReleases {
  readonly #make: (at: number) => Promise<Run>
  readonly #releases: readonly number[]
  #last: { run: Run; askedAt: number; isRepeated: boolean } | undefined

  /** @param releases times of its target's releases, epoch ms */
  constructor(make: (at: number) => Promise<Run>, releases: readonly number[]) {
    this.#make = make
    this.#releases = releases
  }

  /** @param askedAt the time as of which the target answers, epoch ms */
  async at(time: number, askedAt: number): Promise<Run> {
    const last = this.#last
    const isOutdated =
      last === undefined || this.#releases.some((release) => last.askedAt < release && release <= askedAt)
    if (!isOutdated && last.isRepeated) return { ...last.run, executedAt: time }
    const run = await this.#make(time)
    const isRepeated = !isOutdated && run.outcome.status === 'ok' && areAlike(untimed(last.run), untimed(run))
    this.#last = { run, askedAt, isRepeated }
    return run
  }
}

const untimed = (run: Run): Run => ({ ...run, outcome: { ...run.outcome, responseTimeMs: 0 } })

const isCalm = ({ outcome }: Run): boolean => outcome.status === 'ok' && outcome.memory === undefined

const areAlike = (one: Run, other: Run): boolean => isDeepStrictEqual(one.outcome, other.outcome)
