/** Where the program gets its time from. Injected everywhere, so that tests set it. */
export interface Clock {
  /** Milliseconds since the Unix epoch: the time that the whole program uses. */
  now(): number
  /**
   * Milliseconds since some moment, which cannot be set: for spans of time, and to detect that a clock was set. Absent where the
   * caller moves time.
   */
  monotonic?(): number
  /** What the clock of this machine says, where `now` is another's: epoch ms. */
  wall?(): number
}

export const systemClock: Clock = { now: () => Date.now(), monotonic: () => performance.now() }

/** Monotonic time, ms; of a clock that has none, its time. */
export const monotonicOf = (clock: Clock): number => clock.monotonic?.() ?? clock.now()

export const SECOND = 1_000
export const MINUTE = 60 * SECOND
export const HOUR = 60 * MINUTE
export const DAY = 24 * HOUR

/** Start of the UTC bucket of `size` ms that holds `time`. */
export const floorTo = (time: number, size: number): number => time - (time % size)

/** First UTC bucket start at or after `time`. */
export const ceilTo = (time: number, size: number): number => floorTo(time + size - 1, size)

/** The UTC calendar month of `time` as one sortable number: 202611. */
export function monthOf(time: number): number {
  // Asked for twice with every request, nearly always about the same month.
  if (time < latestMonth.start || time >= latestMonth.end) {
    const date = new Date(time)
    latestMonth = {
      start: Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 1),
      end: nextMonthStart(time),
      month: date.getUTCFullYear() * 100 + date.getUTCMonth() + 1,
    }
  }
  return latestMonth.month
}

let latestMonth = { start: 0, end: 0, month: 0 }

/** First instant of the UTC month after the one that holds `time`. */
export function nextMonthStart(time: number): number {
  const date = new Date(time)
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1)
}

/** ISO 8601 UTC with milliseconds, the one form in which times leave the program. */
export const isoTime = (time: number): string => new Date(time).toISOString()

export const isoTimeOrNull = (time: number | null): string | null => (time === null ? null : isoTime(time))
