import { batchSize, burstSize } from './burst.ts'
import type { Noise } from './count-noise.ts'
import { sum } from './statistics.ts'
import type { UsualCounts } from './usual-counts.ts'
import { type RecentCounts, slotCounts } from './volume-counts.ts'

/** How events of a name, or of all, come together. */
export interface Bursts {
  /** Variance of the counts of whole hours over their mean, as far as it is not that of their level. */
  readonly burst: number
  /** The same of five minutes, which a visit outlasts. */
  readonly short: number
  /** Events that a visit or a batch brings, on average. */
  readonly group: number
}

/** So many bursts in five minutes on average, or more, and these tell bursts from a level that wavers better than hours do … */
const BUSY = 2
/** … but for visits that last longer than they are, by so much at most. */
const LONG_VISITS = 6
const MOST_BELIEVED = 5

/** Going by the last hours and the weeks before. @param name null for all events */
export function burstsNow(name: string | null, recent: RecentCounts, usual: UsualCounts, noise: Noise): Bursts {
  const total = slotCounts(recent, null)
  const counts = name === null ? total : slotCounts(recent, name)
  const share = name === null ? 1 : sum(counts) / Math.max(1, sum(total))
  const batch = Math.max(batchSize(total), batchSize(recent.minutes.total), usual.batch) * share
  const short = Math.max(burstSize(counts, Math.min(noise.burst, MOST_BELIEVED)), batch)
  const isBusy = sum(counts) > BUSY * short * counts.length
  const burst = Math.max(isBusy ? Math.min(noise.burst, LONG_VISITS * short) : noise.burst, batch)
  // Visits differ in length. Where lengths are geometric, the variance of counts is b = 2 · mean length − 1 times their mean.
  const visit = (short + 1) / 2
  // Of a visit in five minutes or more on average, slots say by being empty what hours do of fewer.
  const group = sum(counts) > visit * counts.length ? groupOfSlots(counts, noise.group, visit) : noise.group
  return { burst, short: Math.min(short, burst), group: Math.max(group, batch) }
}

/** A visit lasts for some minutes: five of them show no less than this part of it. */
const PARTS_OF_VISIT = 5

/**
 * How many events come together, by how few of five minutes' counts are empty: of n with μ expected, n·e^(−μ/group) are.
 *
 * @param ofHours what whole hours say
 * @param least what the counts of five minutes say, which a visit outlasts
 */
function groupOfSlots(counts: readonly number[], ofHours: number, least: number): number {
  const empty = counts.filter((count) => count === 0).length
  const byEmpty = sum(counts) / counts.length / Math.log(counts.length / (empty + 0.5))
  return Math.max(least, Math.min(ofHours, PARTS_OF_VISIT * least, byEmpty))
}
