import { batchSize, burstSize } from './burst.ts'
import type { Noise } from './count-noise.ts'
import { sum } from './statistics.ts'
import type { UsualCounts } from './usual-counts.ts'
import { type RecentCounts, slotCounts } from './volume-counts.ts'

/** How the events of a name, or all events, come together. */
export interface Bursts {
  /** Variance of hourly counts over their mean, without the variance of the level. */
  readonly burst: number
  /** The same for five minutes, which are shorter than a visit. */
  readonly short: number
  /** Average number of events per visit or batch. */
  readonly group: number
}

/** From this average number of bursts in five minutes on, short counts separate bursts from the level better than hours do, … */
const BUSY = 2
/** … except that visits may last longer; the burst is then at most this many times the short one. */
const LONG_VISITS = 6
const MOST_BELIEVED = 5

/**
 * Estimates bursts from the last hours and the weeks before.
 *
 * @param name null for all events
 */
export function burstsNow(name: string | null, recent: RecentCounts, usual: UsualCounts, noise: Noise): Bursts {
  const total = slotCounts(recent, null)
  const counts = name === null ? total : slotCounts(recent, name)
  const share = name === null ? 1 : sum(counts) / Math.max(1, sum(total))
  const batch = Math.max(batchSize(total), batchSize(recent.minutes.total), usual.batch) * share
  const short = Math.max(burstSize(counts, Math.min(noise.burst, MOST_BELIEVED)), batch)
  const isBusy = sum(counts) > BUSY * short * counts.length
  const burst = Math.max(isBusy ? Math.min(noise.burst, LONG_VISITS * short) : noise.burst, batch)
  // Visits differ in length. With geometric lengths, the variance of counts is b = 2 · mean length − 1 times their mean.
  const visit = (short + 1) / 2
  // With a visit or more per five minutes, empty slots show what empty hours show for fewer visits.
  const group = sum(counts) > visit * counts.length ? groupOfSlots(counts, noise.group, visit) : noise.group
  return { burst, short: Math.min(short, burst), group: Math.max(group, batch) }
}

/** A visit lasts some minutes, so five of them contain at least this fraction of it. */
const PARTS_OF_VISIT = 5

/**
 * Estimates the group size from the number of empty slots: of n slots with expectation μ, n·e^(−μ/group) are empty.
 *
 * @param ofHours the estimate from whole hours
 * @param least the estimate from five-minute counts, which are shorter than a visit
 */
function groupOfSlots(counts: readonly number[], ofHours: number, least: number): number {
  const empty = counts.filter((count) => count === 0).length
  const byEmpty = sum(counts) / counts.length / Math.log(counts.length / (empty + 0.5))
  return Math.max(least, Math.min(ofHours, PARTS_OF_VISIT * least, byEmpty))
}
