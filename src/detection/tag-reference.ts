import { burstSize } from './burst.ts'
import { sum } from './statistics.ts'
import type { TimeRange } from './time.ts'

export interface ReferenceConfig {
  /** Number of days in which the tag ran on almost every occurrence … */
  reference_days: number
  reference_share: number
  reference_occurrences: number
}

/** Days in which a tag ran on almost every occurrence of an event. */
export interface TagReference extends TimeRange {
  readonly occurrences: number
  readonly runs: number
  readonly days: readonly TagDay[]
}

/**
 * Returns the newest consecutive days on which the tag almost always ran. Not the last seven days: a day after a tag died,
 * these would say that it never ran on all occurrences. Days before its first run do not count against a new tag.
 *
 * @param runsByDay runs of the tag on the event, in `days`
 * @param occurrencesByDay occurrences of the event
 */
export function tagReference(
  runsByDay: readonly number[],
  occurrencesByDay: readonly number[],
  days: readonly TimeRange[],
  config: ReferenceConfig,
): TagReference | null {
  const first = runsByDay.findIndex((runs) => runs > 0)
  if (first === -1) return null
  for (let end = days.length; end >= Math.min(config.reference_days, days.length); end--) {
    const start = Math.max(first, end - config.reference_days)
    const [from, to] = [days[start]?.from, days[end - 1]?.to]
    if (from === undefined || to === undefined || start >= end) return null
    const came = occurrencesByDay.slice(start, end)
    const ran = runsByDay.slice(start, end)
    const [occurrences, runs] = [sum(came), sum(ran)]
    if (occurrences < config.reference_occurrences || runs < config.reference_share * occurrences) continue
    const ofDays = came.map((count, day) => ({ occurrences: count, missed: Math.max(0, count - (ran[day] ?? 0)) }))
    return { from, to, occurrences, runs: Math.min(runs, occurrences), days: ofDays }
  }
  return null
}

/** Occurrences of an event, and how many of them a tag ran on. */
export interface Runs extends TimeRange {
  readonly occurrences: number
  readonly runs: number
}

/** Sums the newest buckets until they hold enough occurrences; null when all hold too few. */
export function latest(
  buckets: readonly TimeRange[],
  occurrencesIn: readonly number[],
  runsIn: readonly number[],
  enough: number,
): Runs | null {
  let occurrences = 0
  let runs = 0
  const to = buckets.at(-1)?.to ?? 0
  for (let index = buckets.length - 1; index >= 0; index--) {
    occurrences += occurrencesIn[index] ?? 0
    runs += runsIn[index] ?? 0
    const from = buckets[index]?.from ?? 0
    if (occurrences >= enough) return { from, to, occurrences, runs }
  }
  return null
}

/** Sums the newest buckets without any run. */
export function withoutRuns(
  buckets: readonly TimeRange[],
  occurrencesIn: readonly number[],
  runsIn: readonly number[],
): Runs {
  const start = buckets.findLastIndex((_, index) => (runsIn[index] ?? 0) > 0) + 1
  const to = buckets.at(-1)?.to ?? 0
  return { from: buckets[start]?.from ?? to, to, occurrences: sum(occurrencesIn.slice(start)), runs: 0 }
}

/** One day of a tag and its events. */
export interface TagDay {
  readonly occurrences: number
  /** Occurrences without a run. */
  readonly missed: number
}

/** Any visit may be the first of several that miss the tag. One in this many histories (by default of a week) may cause a false alarm. */
const RECORDS_A_FALSE_ALARM = 400
/** Never judged on fewer occurrences: a single visitor may block the tag. */
const MIN_OCCURRENCES = 3
/** Number of misses that the prior knowledge weighs as much as. */
const PRIOR_WEIGHT = 40
/** Largest prior burst of misses: the hours of a busy site differ for other reasons, too. */
const MOST_BURST = 2

/**
 * Returns how many consecutive occurrences a tag must miss until that is no chance, at most `most`. A visit misses a tag with
 * all of its events, so visits are counted.
 *
 * @param days on which the tag ran
 * @param byHour occurrences in the last hours
 */
export function tellingAbsence(days: readonly TagDay[], byHour: readonly number[], most: number): number {
  const usual = withoutWorst(days)
  const perVisit = eventsMissedTogether(usual, byHour)
  const missed = sum(usual.map((day) => day.missed)) / perVisit
  const visits = sum(usual.map((day) => day.occurrences)) / perVisit
  const least = 1 / (RECORDS_A_FALSE_ALARM * Math.max(1, visits))
  // The chance of each further miss after those before it, known from this record alone (Jeffreys' prior).
  let chance = 1
  let inRow = 0
  for (; chance > least && inRow * perVisit < most; inRow++) chance *= (missed + inRow + 0.5) / (visits + inRow + 1)
  return Math.min(most, Math.max(MIN_OCCURRENCES, inRow * perVisit))
}

/** Adds up the same days of several events. */
export const pooled = (all: readonly (readonly TagDay[])[]): TagDay[] =>
  Array.from({ length: Math.max(0, ...all.map((days) => days.length)) }, (_, index) => {
    // Aligned at the newest day, because a young tag has fewer days.
    const ofDay = all.map((days) => days.at(-1 - index))
    return {
      occurrences: sum(ofDay.map((day) => day?.occurrences ?? 0)),
      missed: sum(ofDay.map((day) => day?.missed ?? 0)),
    }
  })

/** The worst day may have had a fault. */
function withoutWorst(days: readonly TagDay[]): readonly TagDay[] {
  const shares = days.map(({ occurrences, missed }) => missed / Math.max(1, occurrences))
  return days.toSpliced(shares.indexOf(Math.max(...shares)), 1)
}

/**
 * Estimates how many events a visit misses together, from how much more the days' misses vary than single ones would: with geometric sizes, their
 * index of dispersion is twice the mean size minus one. Few misses say little; then the estimate comes from how occurrences vary.
 */
function eventsMissedTogether(days: readonly TagDay[], byHour: readonly number[]): number {
  const known = Math.min(MOST_BURST, burstSize(byHour, 1))
  const missed = sum(days.map((day) => day.missed))
  const share = missed / Math.max(1, sum(days.map(({ occurrences }) => occurrences)))
  const squares = sum(days.map((day) => (day.missed - share * day.occurrences) ** 2))
  const free = Math.max(1, days.length - 1) / Math.max(1, days.length)
  const burst = (squares + PRIOR_WEIGHT * known) / (free * missed + PRIOR_WEIGHT)
  return Math.max(1, (burst + 1) / 2)
}
