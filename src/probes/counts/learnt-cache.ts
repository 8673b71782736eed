import { floorTo, HOUR, MINUTE } from '../../lib/index.ts'
import type { TimeRange } from '../../rollups/index.ts'

/** While less is known, each hour tells much about a site; … */
const FIRST_DAYS = 4
/** … later, three hours change little. */
const RELEARN_EVERY = 3 * HOUR
/** Shift from site to site, so that not all of them learn at once. */
const APART = 7 * MINUTE

/** Whether so much is known about a site that some hours more change little. */
export const isSettled = (daysKnown: number): boolean => daysKnown >= FIRST_DAYS

/** The period for which what is learnt at a time is valid. All who learn as of its start learn the same. */
export function learningPeriod(siteNo: number, time: number, settled: boolean): TimeRange {
  const length = settled ? RELEARN_EVERY : HOUR
  const shift = settled ? (siteNo * APART) % length : 0
  const from = floorTo(time - shift, length) + shift
  return { from, to: from + length }
}

interface Entry<T> {
  from: number
  to: number
  value: T
  size: number
}

/** Largest share of the cache for one entry: a sender with hundreds of names must not displace all others. */
const LARGEST_SHARE = 1 / 16

/** How often expired entries are removed, ms. */
const LOOK_EVERY = MINUTE

/**
 * Caches what was learnt about sites, because reading weeks and learning from them takes many times as long as the rest of a run.
 *
 * A full cache keeps nothing new until entries expire. Probes run in turn, so with replacement each of too many sites would find its own
 * entry gone.
 */
export class LearntCache<T> {
  readonly #most: number
  readonly #entries = new Map<string, Entry<T>>()
  #size = 0
  #lookedAt = Number.NEGATIVE_INFINITY

  /** @param most largest sum of the sizes of all entries */
  constructor(most: number) {
    this.#most = most
  }

  get(key: string, time: number): T | null {
    const entry = this.#entries.get(key)
    return entry !== undefined && isValid(entry, time) ? entry.value : null
  }

  /** Returns the cached value, or what `learn` returns, which is then cached for the period. */
  async learnt(
    key: string,
    time: number,
    period: TimeRange,
    learn: () => Promise<T>,
    sizeOf: (value: T) => number,
  ): Promise<T> {
    const known = this.get(key, time)
    if (known !== null) return known
    const value = await learn()
    this.set(key, time, period, value, sizeOf(value))
    return value
  }

  set(key: string, time: number, { from, to }: TimeRange, value: T, size = 1): void {
    this.#remove(key)
    if (size > this.#most * LARGEST_SHARE) return
    if (this.#size + size > this.#most) this.#removeOver(time)
    if (this.#size + size > this.#most) return
    this.#entries.set(key, { from, to, value, size })
    this.#size += size
  }

  #removeOver(time: number): void {
    if (Math.abs(time - this.#lookedAt) < LOOK_EVERY) return
    this.#lookedAt = time
    for (const [key, entry] of this.#entries) if (!isValid(entry, time)) this.#remove(key)
  }

  #remove(key: string): void {
    this.#size -= this.#entries.get(key)?.size ?? 0
    this.#entries.delete(key)
  }
}

const isValid = ({ from, to }: TimeRange, time: number): boolean => from <= time && time < to

/** The UTC hour that a time is in. */
export function hourOf(time: number): TimeRange {
  const from = floorTo(time, HOUR)
  return { from, to: from + HOUR }
}

/** Makes one instance per store, because a process may have several open. */
export function ofEachStore<T>(make: () => T): (store: { reports: object }) => T {
  const made = new WeakMap<object, T>()
  return ({ reports }) => {
    const known = made.get(reports) ?? make()
    made.set(reports, known)
    return known
  }
}
