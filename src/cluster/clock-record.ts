import { DAY, HOUR, isoTime, MINUTE } from '../lib/index.ts'

/** A clock that was set by more than this is in doubt, ms. Every deletion by age has a larger margin. */
export const JUMP_MS = HOUR
/** How far before the newest stored time a start may be, ms: corrections of a clock are a matter of seconds. */
const BACK_MS = 5 * MINUTE
/** A service that was off for longer than this cannot be told from a wrong clock, ms. */
const FAR_MS = DAY
/** How long a clock in doubt has to run evenly until it is trusted: long enough for someone to correct it after a weekend. */
const PROBATION_MS = 3 * DAY
/** How long after a correction timestamps of the wrong clock are not trusted, ms. */
const AFTERMATH_MS = DAY

/** What is known about the clock that the whole program uses; stored for the next start. */
export interface ClockRecord {
  /** The newest time seen, epoch ms. */
  checkedAt: number
  /** Until then (epoch ms) things may be younger than they look; null when they are not. */
  carefulUntil: number | null
  /** By how much they may be younger, ms; null when unknown, so that nothing counts as old. */
  slackMs: number | null
  /** What to report to people; null when there is nothing to look at. */
  doubt: string | null
}

const trustedAt = (now: number): ClockRecord => ({
  checkedAt: now,
  carefulUntil: null,
  slackMs: null,
  doubt: null,
})

/** The record of a process that starts at `now`. @param before the stored record; undefined in a new database */
export function recordAtStart(before: ClockRecord | undefined, now: number): ClockRecord {
  if (before === undefined) return trustedAt(now)
  const gap = now - before.checkedAt
  if (gap < -BACK_MS) return inDoubt(now, `The clock is ${span(-gap)} before the newest time that is stored`)
  if (gap > FAR_MS) return inDoubt(now, `The clock is ${span(gap)} after the newest time that is stored`)
  const known = settled(before, now)
  if (gap <= JUMP_MS || isNothingOld(known)) return known
  // Either the service was off for this long, or its clock is wrong: report nothing, but expire nothing too early.
  const slackMs = Math.min(DAY, gap + (known.slackMs ?? 0))
  return { ...known, carefulUntil: now + AFTERMATH_MS, slackMs }
}

/** @param byMs how far the clock was set; positive means ahead */
export const recordAfterJump = (now: number, byMs: number): ClockRecord =>
  inDoubt(now, `The clock was set ${span(Math.abs(byMs))} ${byMs > 0 ? 'ahead' : 'back'} while the service ran`)

/** A wrong clock is right again. Rows stamped meanwhile may be younger than they look. */
export const recordAfterReturn = (now: number): ClockRecord => ({
  checkedAt: now,
  carefulUntil: now + AFTERMATH_MS,
  slackMs: null,
  doubt: null,
})

/** The record at `now`; trusted once `carefulUntil` has passed. */
export const settled = (record: ClockRecord, now: number): ClockRecord =>
  record.carefulUntil === null || now >= record.carefulUntil ? trustedAt(now) : { ...record, checkedAt: now }

/** The time by which to judge age, epoch ms; null while nothing counts as old. */
export function expiryTimeOf(record: ClockRecord, now: number): number | null {
  if (record.carefulUntil === null) return now
  return record.slackMs === null ? null : now - record.slackMs
}

const isNothingOld = ({ carefulUntil, slackMs }: ClockRecord): boolean => carefulUntil !== null && slackMs === null

function inDoubt(now: number, what: string): ClockRecord {
  const until = now + PROBATION_MS
  const doubt =
    `${what}, so nothing is deleted by age. If its time (${isoTime(now)}) is right there is nothing to do: ` +
    `that ends automatically at ${isoTime(until)}. If it is wrong, correct it now`
  return { checkedAt: now, carefulUntil: until, slackMs: null, doubt }
}

function span(ms: number): string {
  if (ms >= 2 * DAY) return `${Math.round(ms / DAY)} days`
  if (ms >= 2 * HOUR) return `${Math.round(ms / HOUR)} hours`
  return `${Math.round(ms / MINUTE)} minutes`
}
