import { floorTo, HOUR } from '../lib/index.ts'
import { batchSize, batchSizeOfHours, burstSize } from './burst.ts'
import type { VolumeBaseline } from './volume-baseline.ts'
import { type RecentCounts, slotCounts } from './volume-window.ts'

/** How events of a name, or of all, come together. */
export interface Bursts {
  /** The variance of counts as a multiple of what independent events have. */
  readonly burst: number
  /** Events that a visit or a batch brings, on average. */
  readonly group: number
}

/** Going by the last hours and the weeks before. @param name null for all events */
export function burstsNow(name: string | null, recent: RecentCounts, baseline: VolumeBaseline): Bursts {
  const total = slotCounts(recent, null)
  const counts = name === null ? total : slotCounts(recent, name)
  const burst = burstSize(counts, baseline.burstOf(name))
  const share = name === null ? 1 : sum(counts) / Math.max(1, sum(total))
  const batch =
    Math.max(batchSize(total), batchSize(recent.minutes.total), batchSizeOfHours(wholeHours(recent, baseline))) * share
  // Visits differ in length. Where lengths are geometric, the variance of counts is b = 2 · mean length − 1 times their mean.
  return { burst: Math.max(burst, batch), group: Math.max((burst + 1) / 2, batch) }
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0)

/** Counts of whole hours, yesterday's and then today's: a site that is quiet now still sends in batches. */
function wholeHours({ buckets, total }: RecentCounts, { referenceAt }: VolumeBaseline): number[] {
  const hours = new Set(buckets.map(({ from }) => floorTo(from, HOUR)))
  const today = total.filter((_, index) => {
    const bucket = buckets[index]
    return bucket !== undefined && bucket.to - bucket.from === HOUR
  })
  return [...Array.from(hours, (hour) => referenceAt(hour).yesterday?.total ?? 0), ...today]
}
