/** A half-open stretch of time, epoch ms. */
export interface TimeRange {
  readonly from: number
  readonly to: number
}

/**
 * The newest buckets that together hold enough: at least those from `from` on, and as many older ones as it takes. Null when
 * all of them do not. A detector so looks at the last minutes of a busy tag and at the last hours of a rare one.
 *
 * @param buckets oldest first
 */
export function newestUntil<B extends TimeRange>(
  buckets: readonly B[],
  from: number,
  amountOf: (bucket: B) => number,
  enough: number,
): readonly B[] | null {
  let amount = 0
  for (let start = buckets.length - 1; start >= 0; start--) {
    const bucket = buckets[start]
    if (bucket === undefined) break
    if (bucket.from < from && amount >= enough) return buckets.slice(start + 1)
    amount += amountOf(bucket)
  }
  return amount >= enough ? buckets : null
}

/** How much of two stretches is common, ms. */
export const overlap = (a: TimeRange, b: TimeRange): number =>
  Math.max(0, Math.min(a.to, b.to) - Math.max(a.from, b.from))

export const touchesAny = (range: TimeRange, others: readonly TimeRange[]): boolean =>
  others.some((other) => overlap(range, other) > 0)
