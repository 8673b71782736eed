import { DAY, floorTo, HOUR } from '../lib/index.ts'
import { levelGiven } from './count-noise.ts'
import { levelOfHoursBefore, SPECIAL_NOISE } from './silence.ts'
import { overlap, type TimeRange } from './time.ts'
import type { HourCounts, UsualCounts } from './usual-counts.ts'
import { type BucketCounts, courseOf, expectedBetween } from './volume-counts.ts'

/** What was expected and did not come. */
export interface Loss {
  /** The expected number; if more came, that number. */
  readonly of: number
  readonly lost: number
  /** Bounds that allow for chance and the usual variation. Equal to `lost` when it was counted, not estimated. */
  readonly low: number
  readonly high: number
}

/** A stretch of time in which events were lost, and what is known about the time before. */
export interface LossInput {
  readonly range: TimeRange
  /** What was usual when the stretch began, so that the loss itself has not become usual. */
  readonly usual: UsualCounts
  /** The last day before it. */
  readonly before: BucketCounts
  /** Counts in the stretch, by the start of the UTC hour; the first and the last hour contain only what lies in the stretch. */
  readonly hours: ReadonlyMap<number, HourCounts>
  /** When the service accepted no requests, or the site was paused, without overlaps: what was not counted then was not lost by the site. */
  readonly outages: readonly TimeRange[]
}

/** Standard deviations that contain nine of ten normal numbers. The range does not include what no one could know. */
const NINE_OF_TEN = 1.645
/** Time after which a site's level has come halfway back to usual, because tomorrow is another day. */
const LEVEL_HALF_LIFE = DAY
/** If the other events are less than this share of all, they do not show the site's level. */
const LEAST_OTHERS = 0.2

/**
 * Estimates the events that were expected in a stretch and did not come. The expectation is what is usual by the clock, at the level of
 * the site: that of the hours before, which fades within days, or, if only some events are affected, that of the others.
 *
 * @param name of an event, null for all
 * @param affected the events that may be lost; null: any of them
 * @returns null when it is unknown what is usual
 */
export function lossOf(name: string | null, input: LossInput, affected: ReadonlySet<string> | null): Loss | null {
  const { range, usual } = input
  const own = usual.of(name)
  const levels = (affected === null ? null : levelsOfOthers(input, affected)) ?? levelsAfter(input)
  let [expected, seen] = [0, 0]
  for (const part of partsOf(range)) {
    const byClock = expectedIn(own, part, input)
    if (Number.isNaN(byClock)) return null
    expected += levels.at(part) * byClock
    seen += countOf(input, part, name)
  }
  if (Number.isNaN(expected)) return null
  const length = range.to - range.from
  const isSpecial = usual.specialUntil(range.to) > range.from
  const noise = name !== null && levels.isOfOthers ? own.noise : own.alone
  const wavers = isSpecial ? SPECIAL_NOISE : Math.min(noise.level(length), noise.steady(length) + levels.doubt)
  const spread = NINE_OF_TEN * Math.sqrt(noise.burst * expected + wavers * expected ** 2)
  return lossBetween(expected, seen, spread)
}

/** How often something came, and how often a tag ran on it. */
export interface Ran {
  readonly occurrences: number
  readonly runs: number
}

/**
 * Estimates the executions of a tag that are missing on an event on which it used to run.
 *
 * @param usually counts from before
 * @returns null when it is unknown how often it ran
 */
export function runsMissed(since: Ran, usually: Ran): Loss | null {
  if (usually.occurrences === 0) return null
  const share = Math.min(1, usually.runs / usually.occurrences)
  const variance = share * (1 - share) * (since.occurrences + since.occurrences ** 2 / usually.occurrences)
  return lossBetween(share * since.occurrences, since.runs, NINE_OF_TEN * Math.sqrt(VISIT * variance))
}

/** Average events of a visit, which misses a tag, or has it, with all of them. */
const VISIT = 2

/** A counted loss has no range. */
export const counted = (lost: number, of: number): Loss => ({ of, lost, low: lost, high: lost })

/** @param spread by how much the expectation may be off, either way */
function lossBetween(expected: number, seen: number, spread: number): Loss {
  const within = (value: number) => Math.max(0, value)
  return {
    of: Math.max(expected, seen),
    lost: within(expected - seen),
    low: within(expected - seen - spread),
    high: within(expected - seen + spread),
  }
}

/** Levels relative to the clock. */
interface Levels {
  readonly at: (part: TimeRange) => number
  /** Relative variance of these levels. */
  readonly doubt: number
  readonly isOfOthers: boolean
}

/** By the level of the hours before, which fades over time. */
function levelsAfter({ usual, before, range }: LossInput): Levels {
  const { noise } = usual.of(null)
  const { level, doubt } = levelOfHoursBefore(courseOf(null, before, usual), -1, noise)
  const at = ({ from, to }: TimeRange) => {
    const age = Math.max(0, (from + to) / 2 - range.from)
    return usual.specialUntil(to) > from ? 1 : 1 + (level - 1) * 0.5 ** (age / LEVEL_HALF_LIFE)
  }
  return { at, doubt, isOfOthers: false }
}

/** Hour by hour, by the events that are not affected; null when they are too few. */
function levelsOfOthers(input: LossInput, affected: ReadonlySet<string>): Levels | null {
  const { range, usual } = input
  const { burst, level: noiseOver } = usual.of(null).noise
  const parts = partsOf(range).map((part) => {
    const names = [...affected]
    const expectedOfAll = expectedIn(usual.of(null), part, input)
    const expected = names.reduce((rest, name) => rest - expectedIn(usual.of(name), part, input), expectedOfAll)
    const seen = names.reduce((rest, name) => rest - countOf(input, part, name), countOf(input, part, null))
    return { from: part.from, expected: Math.max(0, expected), expectedOfAll, seen: Math.max(0, seen) }
  })
  const all = parts.reduce(
    (sum, { expected, expectedOfAll, seen }) => ({
      expected: sum.expected + expected,
      ofAll: sum.ofAll + expectedOfAll,
      seen: sum.seen + seen,
    }),
    { expected: 0, ofAll: 0, seen: 0 },
  )
  if (!(all.expected > LEAST_OTHERS * all.ofAll)) return null
  const level = levelGiven(all.seen, all.expected, burst, noiseOver(DAY))
  const byHour = new Map(
    parts.map(({ from, expected, seen }) => {
      // An hour's own level is weighed against that of all hours.
      const relative = levelGiven(seen, level * expected, burst, noiseOver(HOUR))
      return [from, level * relative] as const
    }),
  )
  return { at: ({ from }) => byHour.get(from) ?? level, doubt: burst / Math.max(burst, all.expected), isOfOthers: true }
}

/** The UTC hours of a stretch, with the first and the last cut to it. */
function partsOf({ from, to }: TimeRange): TimeRange[] {
  const parts: TimeRange[] = []
  for (let hour = floorTo(from, HOUR); hour < to; hour += HOUR) {
    parts.push({ from: Math.max(from, hour), to: Math.min(to, hour + HOUR) })
  }
  return parts
}

function expectedIn(usual: Parameters<typeof expectedBetween>[0], part: TimeRange, { outages }: LossInput): number {
  const whole = expectedBetween(usual, part)
  const down = outages.reduce((sum, outage) => sum + overlap(part, outage), 0)
  return down === 0 ? whole : whole * Math.max(0, 1 - down / (part.to - part.from))
}

function countOf({ hours }: LossInput, { from }: TimeRange, name: string | null): number {
  const inHour = hours.get(floorTo(from, HOUR))
  return (name === null ? inHour?.total : inHour?.events.get(name)) ?? 0
}
