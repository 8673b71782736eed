import { floorTo, HOUR, MINUTE } from '../lib/index.ts'
import { batchSize, batchSizeOfHours, burstSize } from './burst.ts'
import { sum } from './statistics.ts'
import type { VolumeBaseline } from './volume-baseline.ts'
import {
  type BucketCounts,
  expectedOf,
  type RecentCounts,
  slotCounts,
  type Window,
  windowsBack,
} from './volume-window.ts'

/** A stretch up to now in which nothing of a subject came. */
export interface Silence {
  /** To the minute. */
  readonly window: Window
  /** Level of the hours before, as a share of the expected one. A quiet day is silent for longer by chance. */
  readonly level: number
  /** How many visits or batches were to be expected in it at that level. */
  readonly visits: number
}

/** What the level before a silence is taken from: so many visits or batches, or so much time. */
const GROUPS_FOR_LEVEL = 40
const LONGEST_LEVEL = 12 * HOUR
/** Senders that hand over what they gathered every few minutes have gaps by design; the next one may come a bit late. */
const GAPS = 1.25

/**
 * Null when the silence may be chance: it is with a probability of e⁻ⁿ where n visits or batches were to be expected.
 *
 * @param recent see `byMinute`
 * @param name of an event, or null for all events
 * @param bursts see `burstsNow`
 * @param least how many visits or batches have to be missing
 */
export function silenceOf(
  recent: BucketCounts,
  baseline: VolumeBaseline,
  name: string | null,
  { burst, group }: Bursts,
  least: number,
): Silence | null {
  let silent: Window | null = null
  let missing = 0
  let level = 1
  for (const window of windowsBack(recent, baseline, name, 0)) {
    const expected = expectedOf(window)
    if (Number.isNaN(expected)) break
    if (window.measured === 0) {
      silent = window
      missing = expected
      continue
    }
    if (silent === null || missing < least * group * silent.caution) return null
    const before = expected - missing
    level = levelOf(window.measured, before, burst)
    if (before >= GROUPS_FOR_LEVEL * group || window.from <= silent.from - LONGEST_LEVEL) break
  }
  const visits = (level * missing) / group
  if (silent === null || visits < least * silent.caution) return null
  return silent.covered > GAPS * longestGap(recent, name) ? { window: silent, level, visits } : null
}

/** The level next to the usual one that chance can make of a count. */
function levelOf(measured: number, expected: number, burst: number): number {
  const chance = Math.sqrt(burst * Math.max(1, expected))
  return Math.max((measured - chance) / expected, Math.min(1, (measured + chance) / expected))
}

/** The longest stretch without events between those of the newest buckets, in as much time as is known by the minute, ms. */
function longestGap({ buckets, total, events }: BucketCounts, name: string | null): number {
  const counts = (name === null ? total : events.get(name)) ?? []
  let longest = 0
  let gap = Number.NaN
  for (let index = buckets.length - 1; index >= 0; index--) {
    const bucket = buckets[index]
    if (bucket === undefined || bucket.to - bucket.from > MINUTE) break
    if ((counts[index] ?? 0) === 0) {
      gap += bucket.to - bucket.from
      continue
    }
    if (gap > longest) longest = gap
    gap = 0
  }
  return longest
}

/** The newest buckets by the minute, the others as they are. */
export function byMinute({ buckets, total, events, minutes }: RecentCounts): BucketCounts {
  const start = minutes.buckets[0]?.from ?? Number.POSITIVE_INFINITY
  const older = buckets.findLastIndex(({ to }) => to <= start) + 1
  return {
    buckets: [...buckets.slice(0, older), ...minutes.buckets],
    total: [...total.slice(0, older), ...minutes.total],
    events: new Map(
      Array.from(events, ([name, counts]) => [name, [...counts.slice(0, older), ...(minutes.events.get(name) ?? [])]]),
    ),
  }
}

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

/** Counts of whole hours, yesterday's and then today's: a site that is quiet now still sends in batches. */
function wholeHours({ buckets, total }: RecentCounts, { referenceAt }: VolumeBaseline): number[] {
  const hours = new Set(buckets.map(({ from }) => floorTo(from, HOUR)))
  const today = total.filter((_, index) => {
    const bucket = buckets[index]
    return bucket !== undefined && bucket.to - bucket.from === HOUR
  })
  return [...Array.from(hours, (hour) => referenceAt(hour).yesterday?.total ?? 0), ...today]
}
