import { HOUR } from '../lib/index.ts'
import { expectedOf, type Window } from './volume-window.ts'

/** Since when there is less than there should be, and how that began. */
export interface Onset {
  /** Start of the bucket in which it began, epoch ms. */
  readonly since: number
  /** Whether it began before all the windows. */
  readonly isOld: boolean
  /** Whether the level broke off rather than sank. */
  readonly isSudden: boolean
}

/** Below this share of the expected count a bucket speaks for a fall, above it against one: half way from whole to half. */
const NEUTRAL_SHARE = 0.75
/** A fault cuts the level of the hour before by at least this much. Holidays and storms sink into their level over hours. */
const SUDDEN_SHARE = 0.6

/** Bursts that a level is taken from: with fewer it says nothing. */
const BURSTS_FOR_LEVEL = 20
const LONGEST_LEVEL = 6 * HOUR

/**
 * The beginning is where the missing events add up to most (CUSUM, Page 1954).
 *
 * @param windows as from `windowsBack`, all of them
 */
export function onsetOf(windows: readonly Window[], burst: number): Onset | null {
  const steps = windows
    .map((window) => ({ from: window.from, measured: window.measured, expected: expectedOf(window) }))
    .filter(({ expected }) => !Number.isNaN(expected))
  const deficit = (step: WindowSum) => NEUTRAL_SHARE * step.expected - step.measured
  const start = steps.reduce<WindowSum | null>(
    (best, s) => (best === null || deficit(s) > deficit(best) ? s : best),
    null,
  )
  const oldest = steps.at(-1)
  if (start === null || oldest === undefined) return null
  const isOld = start === oldest
  const before = steps.find((step) => isEnough(step, start, burst))
  const after = steps.findLast((step) => isEnough(start, step, burst)) ?? NOTHING
  // A level that cannot be distinguished from noise is not known to have broken off.
  const isSudden =
    !isOld &&
    before !== undefined &&
    start.from - before.from <= LONGEST_LEVEL &&
    level(start, after) <= SUDDEN_SHARE * level(before, start)
  return { since: start.from, isOld, isSudden }
}

const NOTHING: WindowSum = { from: Number.POSITIVE_INFINITY, measured: 0, expected: 0 }

/** Whether what the longer window has beyond the shorter is an hour at least, and bursts enough for a level. */
const isEnough = (longer: WindowSum, shorter: WindowSum, burst: number): boolean =>
  longer.from <= shorter.from - HOUR && longer.expected - shorter.expected >= BURSTS_FOR_LEVEL * burst

interface WindowSum {
  readonly from: number
  readonly measured: number
  readonly expected: number
}

/** Measured over expected in what the longer window has beyond the shorter. */
function level(longer: WindowSum, shorter: WindowSum): number {
  const expected = longer.expected - shorter.expected
  return expected > 0 ? (longer.measured - shorter.measured) / expected : 1
}
