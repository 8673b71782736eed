import { isDeepStrictEqual } from 'node:util'
import { floorTo, HOUR } from '../../lib/index.ts'
import type { Run } from '../../probes/index.ts'

/** How far ahead a probe is run. The shortest incident of the history is longer, and how an alert begins and ends takes shorter. */
const AHEAD_MS = HOUR

/**
 * Runs of a probe that judges what was counted: two that find the same, and nothing bad, make those between them superfluous. Where
 * they differ, the time between them is halved until it is known when that began. Of the runs of a history these are a fifth.
 */
export class LookAhead {
  readonly #make: (at: number) => Promise<Run>
  readonly #interval: number
  /** The last one made until now, and those made of later, oldest first. */
  #last: Run | undefined
  #ahead: Run[] = []

  /**
   * @param make runs the probe as it would be at a time, epoch ms: whatever it finds depends on nothing but that
   * @param interval at which it is asked for: runs ahead are made at times that will be, ms
   */
  constructor(make: (at: number) => Promise<Run>, interval: number) {
    this.#make = make
    this.#interval = interval
  }

  /** @param until nothing is asked for from then on, epoch ms */
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

/** Runs of a probe that asks for what only a release changes: when two of them found the same, the next one is made after a release. */
export class BetweenReleases {
  readonly #make: (at: number) => Promise<Run>
  readonly #releases: readonly number[]
  #last: { run: Run; askedAt: number; isRepeated: boolean } | undefined

  /** @param releases of what it asks for, epoch ms */
  constructor(make: (at: number) => Promise<Run>, releases: readonly number[]) {
    this.#make = make
    this.#releases = releases
  }

  /** @param askedAt the time of the server that answers, epoch ms */
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
