import { batchSize, burstSize } from './burst.ts'
import type { VolumeBaseline } from './volume-baseline.ts'
import { type RecentCounts, slotCounts } from './volume-window.ts'

/** How many events come at a time, of a name or (null) of all, going by the last hours and the weeks before. */
export function burstNow(name: string | null, recent: RecentCounts, baseline: VolumeBaseline): number {
  const total = slotCounts(recent, null)
  const counts = name === null ? total : slotCounts(recent, name)
  const burst = burstSize(counts, baseline.burstOf(name))
  const share = name === null ? 1 : sum(counts) / Math.max(1, sum(total))
  return Math.max(burst, batchSize(total) * share)
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0)
