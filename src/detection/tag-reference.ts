import type { TimeRange } from './buckets.ts'
import { sum } from './statistics.ts'
import type { TagDay } from './tag-absence.ts'

export interface ReferenceConfig {
  /** Days in which the tag ran on nearly every occurrence … */
  reference_days: number
  reference_share: number
  reference_occurrences: number
}

/** Days in which a tag ran on nearly every occurrence of an event. */
export interface TagReference extends TimeRange {
  readonly occurrences: number
  readonly runs: number
  readonly days: readonly TagDay[]
}

/**
 * The newest run of days on which the tag ran nearly always. Not simply the last seven: a day after a tag has died, those
 * would say that it never ran on all occurrences. Days before its first run do not count against a new tag.
 *
 * @param runsByDay of the tag on the event, in `days`
 * @param occurrencesByDay of the event
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

/** The newest buckets that hold enough occurrences, null when all do not. */
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

/** The newest buckets without any run. */
export function withoutRuns(
  buckets: readonly TimeRange[],
  occurrencesIn: readonly number[],
  runsIn: readonly number[],
): Runs {
  const start = buckets.findLastIndex((_, index) => (runsIn[index] ?? 0) > 0) + 1
  const to = buckets.at(-1)?.to ?? 0
  return { from: buckets[start]?.from ?? to, to, occurrences: sum(occurrencesIn.slice(start)), runs: 0 }
}
