import { type Clock, MINUTE, systemClock } from '../../../src/lib/index.ts'

/**
 * When a process of these tests begins, whatever the time is: a Wednesday in Berlin, where no day, week or month ends for hours. What pages
 * say of times depends on the weekday and on how near midnight is.
 */
const BEGIN = Date.parse('2026-11-25T14:20:00+01:00')

/** How far that is from the machine's clock, ms. */
export const SHIFT_MS = BEGIN - systemClock.now()

/** The time of these tests, of their services and of their pages; it passes as time does. */
export const clock: Clock = { ...systemClock, now: () => systemClock.now() + SHIFT_MS }

const EARLIER_MS = 2 * MINUTE
const SLOWER = 10

/**
 * The time while the demo is written that all processes copy, each at a time of its own: it ends shortly before the time that each begins with.
 * Slow, as a busy machine may take minutes for it; each minute that lies between costs every copy hundreds of runs of probes.
 */
export function clockBefore(): Clock {
  const monotonic = () => performance.now() / SLOWER
  const began = monotonic()
  return { now: () => BEGIN - EARLIER_MS + (monotonic() - began), monotonic }
}
