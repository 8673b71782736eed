/** The program's source of time. Injected everywhere, so that tests can set it. */
export interface Clock {
  /** The time that the whole program uses, epoch ms. */
  now(): number
  /**
   * Milliseconds since some moment, unaffected by setting a clock: for durations, and to detect that a clock was set. Absent
   * where the caller moves time, as tests do.
   */
  monotonic?(): number
  /** This machine's own clock, epoch ms, where `now` is the database's. */
  wall?(): number
}

export const systemClock: Clock = { now: () => Date.now(), monotonic: () => performance.now() }

/** Monotonic time, ms; for a clock without it, `now`. */
export const monotonicOf = (clock: Clock): number => clock.monotonic?.() ?? clock.now()

export const SECOND = 1_000
export const MINUTE = 60 * SECOND
export const HOUR = 60 * MINUTE
export const DAY = 24 * HOUR

/** Start of the UTC bucket of `size` ms that contains `time`. */
export const floorTo = (time: number, size: number): number => time - (time % size)

/** The first UTC bucket start at or after `time`. */
export const ceilTo = (time: number, size: number): number => floorTo(time + size - 1, size)

/** The UTC calendar month of `time` as a sortable number: 202611. */
export function monthOf(time: number): number {
  // Cached, because every request asks twice, nearly always about the same month.
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

/** The first instant of the UTC month after the one that contains `time`. */
export function nextMonthStart(time: number): number {
  const date = new Date(time)
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1)
}

/** ISO 8601 UTC with milliseconds, the only form in which times leave the program. */
export const isoTime = (time: number): string => new Date(time).toISOString()

export const isoTimeOrNull = (time: number | null): string | null => (time === null ? null : isoTime(time))
