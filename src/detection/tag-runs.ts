import type { TimeRange } from './buckets.ts'
import { sum } from './statistics.ts'

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
