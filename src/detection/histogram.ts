import { sum } from './statistics.ts'

/** Durations by bucket. */
export interface Histogram {
  /** Upper bounds (inclusive, ms) of all buckets but the last, ascending. */
  readonly bounds: readonly number[]
  /** One more than bounds: the last bucket holds what is above. */
  readonly counts: readonly number[]
}

export const merged = (bounds: readonly number[], all: readonly (readonly number[])[]): Histogram => ({
  bounds,
  counts: Array.from({ length: bounds.length + 1 }, (_, bucket) => sum(all.map((counts) => counts[bucket] ?? 0))),
})

export const observations = ({ counts }: Histogram): number => sum(counts)

/** The q-quantile in ms, interpolated inside its bucket; what lies above the last bound counts as that. NaN of nothing. */
export function quantile({ bounds, counts }: Histogram, q: number): number {
  const rank = q * sum(counts)
  if (rank === 0) return Number.NaN
  let below = 0
  let lower = 0
  for (const [bucket, upper] of bounds.entries()) {
    const count = counts[bucket] ?? 0
    if (count > 0 && below + count >= rank) return lower + ((upper - lower) * (rank - below)) / count
    below += count
    lower = upper
  }
  return lower
}

/** How many observations are longer than `limit` ms, the bucket that holds the limit being shared out evenly. */
export function countAbove({ bounds, counts }: Histogram, limit: number): number {
  let above = counts[bounds.length] ?? 0
  let lower = 0
  for (const [bucket, upper] of bounds.entries()) {
    const count = counts[bucket] ?? 0
    if (lower >= limit) above += count
    else if (upper > limit) above += (count * (upper - limit)) / (upper - lower)
    lower = upper
  }
  return above
}
