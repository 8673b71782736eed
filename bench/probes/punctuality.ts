import { Histogram } from '../lib/histogram.ts'

/** A stretch of time, epoch ms; the end is not in it. */
export interface Stretch {
  from: number
  to: number
}

export interface ProbeRuns {
  /** Any time at which the probe is due; the others lie whole intervals away. */
  gridTime: number
  executedAt: readonly number[]
}

export interface Punctuality {
  /** Runs that were due. */
  due: number
  /** Those of them that never began: not before the next one was due. */
  missed: number
  lagMs: Histogram
}

/** How the runs that were due in `stretches` kept to the probes' grids. */
export function punctuality(
  probes: readonly ProbeRuns[],
  intervalMs: number,
  stretches: readonly Stretch[],
): Punctuality {
  const lagMs = new Histogram()
  let due = 0
  let ran = 0
  for (const { gridTime, executedAt } of probes) {
    const lags = executedAt.map((at) => ({ at, lag: modulo(at - gridTime, intervalMs) }))
    for (const { from, to } of stretches) {
      due += gridTimesBefore(to, gridTime, intervalMs) - gridTimesBefore(from, gridTime, intervalMs)
      const inTime = lags.filter(({ at, lag }) => at - lag >= from && at - lag < to)
      for (const { lag } of inTime) lagMs.record(lag)
      ran += new Set(inTime.map(({ at, lag }) => at - lag)).size
    }
  }
  return { due, missed: due - ran, lagMs }
}

/** Counted from `gridTime`, and so negative before it. */
const gridTimesBefore = (time: number, gridTime: number, intervalMs: number): number =>
  Math.ceil((time - gridTime) / intervalMs)

const modulo = (value: number, divisor: number): number => ((value % divisor) + divisor) % divisor
