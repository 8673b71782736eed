import { floorTo, HOUR } from '../lib/index.ts'
import type { TimeRange } from './buckets.ts'
import { median } from './statistics.ts'
import type { HourCounts, VolumeBaseline } from './volume-baseline.ts'

/** The last 24 hours of a site. `total` and each list in `events` have one count for each of `buckets`. */
export interface RecentCounts {
  /** Oldest first, without overlaps. The newer ones are five minutes long, the older ones may be longer. */
  readonly buckets: readonly TimeRange[]
  readonly total: readonly number[]
  readonly events: ReadonlyMap<string, readonly number[]>
}

/** The newest buckets of one subject together, and what earlier weeks had in the same stretch. */
export interface Window extends TimeRange {
  readonly measured: number
  readonly samples: readonly number[]
}

/** Weeks that must be known; with fewer, yesterday is the comparison. */
export const MIN_WEEKS = 2

/**
 * Follows one subject back in time from the end of `recent`, bucket by bucket, and gives the window of all buckets so far.
 *
 * @param name of an event, or null for all events. A named event is compared by its share: the samples are what the shares of
 * earlier weeks make of the window's total, so that a quiet day of the whole site does not look like a broken event.
 * @param skipped how many of the newest buckets are left out
 */
export function* windowsBack(
  recent: RecentCounts,
  baseline: VolumeBaseline,
  name: string | null,
  skipped: number,
): Generator<Window> {
  const counts = name === null ? recent.total : recent.events.get(name)
  const sums = new ReferenceSums(name)
  let measured = 0
  let total = 0
  const newest = recent.buckets.length - 1 - skipped
  const to = recent.buckets[newest]?.to ?? 0
  for (let index = newest; index >= 0; index--) {
    const bucket = recent.buckets[index]
    if (bucket === undefined) return
    measured += counts?.[index] ?? 0
    total += recent.total[index] ?? 0
    sums.add(bucket, baseline)
    yield { from: bucket.from, to, measured, samples: name === null ? sums.totals() : sums.shares(total) }
  }
}

/** Adds up, week by week, what the references had in the stretch. A week of which an hour is unknown drops out. */
class ReferenceSums {
  private readonly name: string | null
  private weeks: { total: number; named: number; isKnown: boolean }[] = []
  private readonly yesterday = { total: 0, named: 0, isKnown: true }

  constructor(name: string | null) {
    this.name = name
  }

  add(bucket: TimeRange, baseline: VolumeBaseline): void {
    for (let hour = floorTo(bucket.from, HOUR); hour < bucket.to; hour += HOUR) {
      const from = Math.max(bucket.from, hour)
      const to = Math.min(bucket.to, hour + HOUR)
      // Traffic does not jump at full hours: towards its ends an hour is half way to its neighbour. Only downwards, or an
      // hour of silence would be expected to have events because the hour before has.
      const place = ((from + to) / 2 - hour) / HOUR - 0.5
      const [near, next] = [baseline.referenceAt(hour), baseline.referenceAt(place < 0 ? hour - HOUR : hour + HOUR)]
      if (this.weeks.length === 0) this.weeks = near.weeks.map(() => ({ total: 0, named: 0, isKnown: true }))
      const share = { part: (to - from) / HOUR, ofNext: Math.abs(place) }
      for (const [week, sum] of this.weeks.entries()) {
        this.addHour(sum, near.weeks[week] ?? null, next.weeks[week] ?? null, share)
      }
      this.addHour(this.yesterday, near.yesterday, next.yesterday, share)
    }
  }

  private addHour(
    sum: { total: number; named: number; isKnown: boolean },
    hour: HourCounts | null,
    next: HourCounts | null,
    { part, ofNext }: { part: number; ofNext: number },
  ): void {
    if (hour === null) {
      sum.isKnown = false
      return
    }
    const neighbour = next ?? hour
    sum.total += part * (hour.total + ofNext * Math.min(0, neighbour.total - hour.total))
    if (this.name === null) return
    const named = hour.events.get(this.name) ?? 0
    sum.named += part * (named + ofNext * Math.min(0, (neighbour.events.get(this.name) ?? 0) - named))
  }

  private known(): { total: number; named: number }[] {
    const weeks = this.weeks.filter(({ isKnown }) => isKnown)
    if (weeks.length >= MIN_WEEKS) return weeks
    return this.yesterday.isKnown ? [this.yesterday] : []
  }

  totals(): number[] {
    return this.known().map(({ total }) => total)
  }

  shares(measuredTotal: number): number[] {
    return this.known()
      .filter(({ total }) => total > 0)
      .map(({ total, named }) => (measuredTotal * named) / total)
  }
}

/** Middle of a window's samples; NaN where nothing is known. */
export const expectedOf = ({ samples }: Window): number => median(samples)

/** Counts of the newest buckets of equal length, oldest first. */
export function slotCounts({ buckets, total, events }: RecentCounts, name: string | null): number[] {
  const lengths = buckets.map(({ from, to }) => to - from)
  const start = lengths.findLastIndex((length) => length !== lengths.at(-1)) + 1
  const counts = name === null ? total : events.get(name)
  return buckets.slice(start).map((_, index) => counts?.[start + index] ?? 0)
}
