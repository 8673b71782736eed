import { floorTo, HOUR } from '../lib/index.ts'
import { median } from './statistics.ts'
import { type TimeRange, touchesAny } from './time.ts'
import { type HourCounts, MIN_WEEKS, type VolumeBaseline } from './volume-baseline.ts'

/** Events of a site. `total` and each list in `events` have one count for each of `buckets`. */
export interface BucketCounts {
  /** Oldest first, without overlaps. */
  readonly buckets: readonly TimeRange[]
  readonly total: readonly number[]
  readonly events: ReadonlyMap<string, readonly number[]>
}

/** The last 24 hours of a site. The newer buckets are five minutes long, the older ones may be longer. */
export interface RecentCounts extends BucketCounts {
  /** The newest of these buckets again, minute by minute: they show for how long no event has arrived. */
  readonly minutes: BucketCounts
}

/** The newest buckets of one subject together, and what earlier weeks had in the same stretch. */
export interface Window extends TimeRange {
  readonly measured: number
  readonly samples: readonly number[]
  /** Time that the buckets hold, ms: less than from one end to the other where buckets are left out, see `withoutOutages`. */
  readonly covered: number
  /**
   * How many times more has to be missing than otherwise: with nothing but yesterday to compare with, today may be another kind of
   * day. An office has a fifth of a Friday's visits on its first Saturday.
   */
  readonly caution: number
}

const CAUTION_AFTER_A_DAY = 5

/**
 * Follows one subject back in time from the end of `recent`, bucket by bucket, and gives the window of all buckets so far.
 *
 * @param name of an event, or null for all events. A named event is compared by its share: the samples are what the shares of
 * earlier weeks make of the window's total, so that a quiet day of the whole site does not look like a broken event. Where
 * the name did not come at all, that total is what the others had, and is compared with the others: without them, a dead
 * event would lower what is expected of it.
 * @param skipped how many of the newest buckets are left out
 */
export function* windowsBack(
  recent: BucketCounts,
  baseline: VolumeBaseline,
  name: string | null,
  skipped: number,
): Generator<Window> {
  const counts = name === null ? recent.total : recent.events.get(name)
  const sums = new ReferenceSums(name)
  let measured = 0
  let total = 0
  let covered = 0
  const newest = recent.buckets.length - 1 - skipped
  const to = recent.buckets[newest]?.to ?? 0
  for (let index = newest; index >= 0; index--) {
    const bucket = recent.buckets[index]
    if (bucket === undefined) return
    measured += counts?.[index] ?? 0
    total += recent.total[index] ?? 0
    covered += bucket.to - bucket.from
    sums.add(bucket, baseline)
    const samples = name === null ? sums.totals() : measured === 0 ? sums.besides(total) : sums.shares(total)
    yield { from: bucket.from, to, measured, samples, covered, caution: sums.isOneDay() ? CAUTION_AFTER_A_DAY : 1 }
  }
}

/** What an hour has where it is `towards` (0–1) its neighbour. Levels sink by a share, not by a number. */
function between(hour: number, neighbour: number, towards: number): number {
  if (neighbour >= hour) return hour
  return hour * (Math.max(1, neighbour) / Math.max(1, hour)) ** towards
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
    sum.total += part * between(hour.total, neighbour.total, ofNext)
    if (this.name === null) return
    const named = hour.events.get(this.name) ?? 0
    sum.named += part * between(named, neighbour.events.get(this.name) ?? 0, ofNext)
  }

  private known(): { total: number; named: number }[] {
    if (!this.isOneDay()) return this.weeks.filter(({ isKnown }) => isKnown)
    return this.yesterday.isKnown ? [this.yesterday] : []
  }

  /** Whether too few weeks are known. */
  isOneDay(): boolean {
    return this.weeks.filter(({ isKnown }) => isKnown).length < MIN_WEEKS
  }

  totals(): number[] {
    return this.known().map(({ total }) => total)
  }

  /** What the weeks' shares make of a total. */
  shares(measuredTotal: number): number[] {
    return this.known()
      .filter(({ total }) => total > 0)
      .map(({ total, named }) => (measuredTotal * named) / total)
  }

  /** What a name would have beside the others that came: no more than it had, as a few others more are no sign of it. */
  besides(others: number): number[] {
    return this.known()
      .filter(({ total, named }) => total > named)
      .map(({ total, named }) => named * Math.min(1, others / (total - named)))
  }
}

/** Middle of a window's samples; NaN where nothing is known. */
export const expectedOf = ({ samples }: Window): number => median(samples)

/** Counts of the newest buckets of equal length, oldest first. */
export function slotCounts({ buckets, total, events }: BucketCounts, name: string | null): number[] {
  const lengths = buckets.map(({ from, to }) => to - from)
  const start = lengths.findLastIndex((length) => length !== lengths.at(-1)) + 1
  const counts = name === null ? total : events.get(name)
  return buckets.slice(start).map((_, index) => counts?.[start + index] ?? 0)
}

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
