import { Type } from 'typebox'
import type { Stretch } from '../../analytics/index.ts'
import { DAY, floorTo, HOUR, MINUTE } from '../../lib/index.ts'
import { GRAIN, type TimeRange } from '../../rollups/index.ts'

/** The grid that the last hours are judged on. */
export const SLOT = 5 * MINUTE

/** The last 24 hours and the rest of the hour before them, in buckets without gaps, oldest first. */
export interface Timeline {
  readonly buckets: readonly TimeRange[]
  /** Where UTC hours end and slots of five minutes begin; the first slot may be shorter. A whole UTC hour. */
  readonly slotsFrom: number
  /** Returns the index of the bucket that holds a time of the timeline. */
  readonly indexAt: (time: number) => number
}

/**
 * There are many minute rows, so only the newest part is read in slots, which need them; the rest comes from hour rows.
 *
 * @param end end of the last slot, a whole minute
 * @param slotsFor at least this much of the end is in slots, ms
 */
export function lastDay(end: number, slotsFor: number): Timeline {
  const from = floorTo(end - DAY, HOUR)
  const slotsFrom = Math.max(from, floorTo(end - slotsFor, HOUR))
  const firstWhole = slotsFrom + ((end - slotsFrom) % SLOT)
  const starts = [
    ...steps(from, slotsFrom, HOUR),
    ...(firstWhole > slotsFrom ? [slotsFrom] : []),
    ...steps(firstWhole, end, SLOT),
  ]
  const hours = (slotsFrom - from) / HOUR
  const cutSlots = firstWhole > slotsFrom ? 1 : 0
  return {
    buckets: starts.map((start, index) => ({ from: start, to: starts[index + 1] ?? end })),
    slotsFrom,
    indexAt: (time) => {
      if (time < slotsFrom) return Math.floor((time - from) / HOUR)
      return hours + cutSlots + Math.floor((time - firstWhole) / SLOT)
    },
  }
}

const steps = (from: number, to: number, size: number): number[] =>
  Array.from({ length: Math.max(0, Math.ceil((to - from) / size)) }, (_, index) => from + index * size)

/**
 * The rows to read for a timeline: hours, then minutes.
 *
 * @param end of the timeline
 */
export const readStretches = ({ buckets, slotsFrom }: Timeline, end: number): Stretch[] => [
  { from: buckets[0]?.from ?? end, to: slotsFrom, coarsest: GRAIN.hour },
  { from: slotsFrom, to: end, coarsest: GRAIN.minute },
]

/** Joins UTC hours into stretches; hours may repeat and come in any order. */
export function stretchesOf(hours: Iterable<number>): TimeRange[] {
  const stretches: TimeRange[] = []
  for (const hour of [...new Set(hours)].sort((a, b) => a - b)) {
    const last = stretches.at(-1)
    if (last?.to === hour) last.to = hour + HOUR
    else stretches.push({ from: hour, to: hour + HOUR })
  }
  return stretches
}

/** The setting for how much of the newest counts is judged; they are read in slots of five minutes. */
export const windowMinutes = (byDefault: number) =>
  Type.Integer({
    minimum: 5,
    maximum: 1_440,
    multipleOf: 5,
    default: byDefault,
    description: 'Length of the judged window in minutes, in steps of 5',
  })
