import { floorTo, HOUR, MINUTE } from '../../lib/index.ts'
import type { TimeRange } from '../../rollups/index.ts'

/** In the first days of a site each hour tells much; … */
const FIRST_DAYS = 4
/** … later, three change little. */
const RELEARN_EVERY = 3 * HOUR
/** Sites learn at different times, so that not all of them do at once. */
const APART = 7 * MINUTE

/** Whether so much of a site is known that it says nothing new within some hours. */
export const isSettled = (daysKnown: number): boolean => daysKnown >= FIRST_DAYS

/** From when to when it holds what is learnt of a site at a time. Who learns it as of its beginning learns the same as everyone. */
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

/** Of the room, the most that one entry may take: a sender of hundreds of names must not take that of all others. */
const LARGEST_SHARE = 1 / 16

/** How often entries are looked through for those that are over, ms. */
const LOOK_EVERY = MINUTE

/**
 * What was learnt of sites, by what tells it apart: to read and learn from weeks takes many times as long as all else of a run.
 *
 * When it is full, nothing more is kept until something is over. Probes come in turn, so if the new took the place of the old, each of too many sites would find
 * its own gone.
 */
export class LearntCache<T> {
  readonly #most: number
  readonly #entries = new Map<string, Entry<T>>()
  #size = 0
  #lookedAt = Number.NEGATIVE_INFINITY

  /** @param most sum of the sizes of what is kept */
  constructor(most: number) {
    this.#most = most
  }

  get(key: string, time: number): T | null {
    const entry = this.#entries.get(key)
    return entry !== undefined && isValid(entry, time) ? entry.value : null
  }

  /** What is known, or else what `learn` makes for the period. */
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

/** The whole UTC hour that a time is in. */
export function hourOf(time: number): TimeRange {
  const from = floorTo(time, HOUR)
  return { from, to: from + HOUR }
}

/** One of each store, as several may be open in a process. */
export function ofEachStore<T>(make: () => T): (store: { reports: object }) => T {
  const made = new WeakMap<object, T>()
  return ({ reports }) => {
    const known = made.get(reports) ?? make()
    made.set(reports, known)
    return known
  }
}
