import { type TimeRange, touchesAny } from './buckets.ts'
import type { BucketCounts, RecentCounts } from './volume-window.ts'

/**
 * Drops the buckets in which the service itself was down for a while: they have fewer events than were sent, and it is not known
 * how many fewer.
 */
export const withoutOutages = (recent: RecentCounts, outages: readonly TimeRange[]): RecentCounts =>
  outages.length === 0 ? recent : { ...without(recent, outages), minutes: without(recent.minutes, outages) }

function without({ buckets, total, events }: BucketCounts, outages: readonly TimeRange[]): BucketCounts {
  const isComplete = buckets.map((bucket) => !touchesAny(bucket, outages))
  const kept = <T>(values: readonly T[]): T[] => values.filter((_, index) => isComplete[index])
  return {
    buckets: kept(buckets),
    total: kept(total),
    events: new Map(Array.from(events, ([name, counts]) => [name, kept(counts)])),
  }
}
