import { DAY, floorTo, HOUR, MINUTE } from '../lib/index.ts'
import { type Bursts, burstsNow } from './bursts-now.ts'
import { hourlyOf, type OpenFall } from './open-fall.ts'
import type { Band } from './passing.ts'
import { median } from './statistics.ts'
import { Surprise } from './surprise.ts'
import type { LocalTime, TimeRange } from './time.ts'
import { type HourCounts, type UsualCount, type UsualCounts, usualCounts } from './usual-counts.ts'
import type { Status } from './verdict.ts'
import {
  assessVolume,
  type CountedSubject,
  limitsOf,
  type VolumeConfig,
  type VolumeLimits,
} from './volume-assessment.ts'
import { type BucketCounts, type Course, expectedBetween, longestGap } from './volume-counts.ts'
import { passingNewest } from './volume-fall.ts'

export interface Judgement {
  /** What the value should have been; null for the first. */
  readonly expected: number | null
  /** 0–1, higher is more surprising. */
  readonly score: number
  readonly status: Status
  /** Time that the value covers, ms. */
  readonly step: number
}

/** How often what is usual is learnt, which costs as much as judging a hundred values; in the first days, each hour tells much. */
const RELEARN_EVERY = 6 * HOUR
const FIRST_DAYS = 4

/**
 * Judges a series with a fixed step value by value as `data_volume` judges a site, without knowledge of later values. Gaps
 * count as unknown. Times must not go back.
 */
export class SeriesReplay {
  private readonly config: VolumeConfig
  private readonly limits: VolumeLimits
  private readonly clock: LocalTime
  private readonly past: HourSums
  private readonly latest = new LatestDay()
  private readonly surprise: Surprise
  private learnt: { usual: UsualCounts; bursts: Bursts; until: number } | null = null
  private open: OpenFall | null = null
  private newest: { subject: CountedSubject; isSilent: boolean } | null = null

  constructor(clock: LocalTime, config: VolumeConfig) {
    this.config = config
    this.limits = limitsOf(config, null)
    this.clock = clock
    this.past = new HourSums(config.weeks)
    this.surprise = new Surprise(config.direction)
  }

  next(time: number, value: number): Judgement {
    const learnt = this.learn(time)
    const { usual, bursts } = learnt
    const site = usual.of(null)
    const step = this.latest.stepTo(time)
    const seasonal = expectedBetween(site, { from: time, to: time + step })
    const known = Number.isNaN(seasonal) ? null : seasonal
    this.past.add(time, value, step)
    this.latest.add(time, value, seasonal)
    const expected = known ?? this.surprise.levelNow
    const score = this.surprise.next(time, value, known)
    const course = this.latest.course()
    const subject: CountedSubject = {
      isSite: true,
      course,
      minutes: course,
      longestGap: longestGap(this.latest.newest(LATEST_MINUTES), null),
      usual: site,
      bursts,
      open: this.open,
      ofSite: usual,
    }
    const { status, silence, since } = assessVolume(subject, this.limits)
    if (silence === null) this.open = status === 'ok' || since === null ? null : this.fallSince(since, site)
    this.newest = { subject, isSilent: status === 'critical' && silence !== null }
    return { expected, score, status, step }
  }

  /** The counts that would have passed for the newest value alone; null when it is compared with nothing. Slower than judging. */
  band(): Band | null {
    if (this.newest === null) return null
    const { subject, isSilent } = this.newest
    const band = passingNewest(subject.course, subject.usual, subject.bursts, this.limits)
    // Any event ends a silence.
    return band !== null && isSilent ? { ...band, low: Math.max(1, band.low) } : band
  }

  private fallSince(since: number, site: UsualCount): OpenFall {
    return { since, widening: site.widening, hourly: this.open?.hourly ?? hourlyOf(site, since) }
  }

  private learn(time: number): { usual: UsualCounts; bursts: Bursts } {
    if (this.learnt !== null && time < this.learnt.until) return this.learnt
    const usual = usualCounts(this.past.history(), this.clock, time, this.config.weeks)
    const buckets = this.latest.newest(LATEST_SLOTS)
    const minutes = this.latest.newest(LATEST_MINUTES)
    const bursts = burstsNow(null, { ...buckets, minutes }, usual, usual.of(null).noise)
    this.learnt = { usual, bursts, until: floorTo(time, HOUR) + (usual.days < FIRST_DAYS ? HOUR : RELEARN_EVERY) }
    return this.learnt
  }
}

/** As much as the probe reads in slots and by the minute. */
const LATEST_SLOTS = 6 * HOUR
const LATEST_MINUTES = 30 * MINUTE

const DAYS_A_WEEK = 7
/** A longer distance to the next value, in steps, is a gap. */
const GAP_STEPS = 1.5
const NO_EVENTS: ReadonlyMap<string, number> = new Map()

/** Hourly sums of a series, as far back as they are compared. */
class HourSums {
  private readonly keptFor: number
  private readonly hours = new Map<number, HourCounts>()
  private gaps: TimeRange[] = []
  private knownFrom = Number.POSITIVE_INFINITY
  private end = Number.NEGATIVE_INFINITY

  constructor(weeks: number) {
    this.keptFor = (weeks * DAYS_A_WEEK + 2) * DAY
  }

  add(time: number, value: number, step: number): void {
    if (this.end === Number.NEGATIVE_INFINITY) this.knownFrom = Math.ceil(time / HOUR) * HOUR
    else if (time - this.end > (GAP_STEPS - 1) * step) this.gaps.push({ from: this.end, to: time })
    this.end = time + step
    // A longer step, such as a day, is spread over all its hours.
    for (let at = time; at < time + step; at += HOUR) {
      const hour = floorTo(at, HOUR)
      const share = Math.min(HOUR, step) / step
      this.hours.set(hour, {
        total: (this.hours.get(hour)?.total ?? 0) + share * Math.max(0, value),
        events: NO_EVENTS,
      })
    }
    this.forget(time - this.keptFor)
  }

  history() {
    const { hours, gaps, knownFrom } = this
    return { hours, knownFrom, outages: gaps, special: [] }
  }

  private forget(before: number): void {
    for (const hour of this.hours.keys()) {
      if (hour >= before) break
      this.hours.delete(hour)
    }
    if (this.gaps.some(({ to }) => to < before)) this.gaps = this.gaps.filter(({ to }) => to >= before)
  }
}

const STEPS_TO_LEARN = 25
/** Every window of up to this many values is judged; longer ones grow by this factor. */
const EACH_UP_TO = 12
const GROWTH = 1.2

/** Running sums of the last day's values. */
class LatestDay {
  private times: number[] = []
  /** Sums of all values, and of all expectations, before each value. One element longer than `times`. */
  private sums: number[] = [0]
  private expectations: number[] = [0]
  /** From this index on, all values have an expectation. */
  private firstKnown = 0
  private readonly firstSteps: number[] = []
  private step = HOUR

  /** Returns the median step, not the shortest: a duplicate or early row would make it seconds. */
  stepTo(time: number): number {
    const before = this.times.at(-1)
    if (before !== undefined && time !== before && this.firstSteps.length < STEPS_TO_LEARN) {
      this.firstSteps.push(time - before)
      this.step = median(this.firstSteps)
    }
    return this.step
  }

  /** @param expected NaN when unknown */
  add(time: number, value: number, expected: number): void {
    const isKnown = !Number.isNaN(expected)
    this.times.push(time)
    this.sums.push((this.sums.at(-1) ?? 0) + Math.max(0, value))
    this.expectations.push((this.expectations.at(-1) ?? 0) + (isKnown ? expected : 0))
    if (!isKnown) this.firstKnown = this.times.length
    if (this.times.length > 3 * this.ofADay()) this.forget(2 * this.ofADay())
  }

  course(): Course {
    const count = this.times.length
    const to = (this.times.at(-1) ?? 0) + this.step
    const from: number[] = []
    const measured: number[] = []
    const expected: number[] = []
    const covered: number[] = []
    for (let length = 1; length <= count - this.firstKnown; ) {
      const start = this.times[count - length] ?? to
      if (start < to - DAY) break
      from.push(start)
      measured.push((this.sums[count] ?? 0) - (this.sums[count - length] ?? 0))
      expected.push((this.expectations[count] ?? 0) - (this.expectations[count - length] ?? 0))
      covered.push(length * this.step)
      length = length < EACH_UP_TO ? length + 1 : Math.floor(length * GROWTH)
    }
    const same = { expected, byClock: expected, byOthers: expected }
    return { to, from, measured, ...same, covered, specialUntil: Number.NEGATIVE_INFINITY }
  }

  /** The values of the latest `time` ms, but at least the newest one. */
  newest(time: number): BucketCounts {
    const count = Math.min(this.times.length, Math.max(1, Math.floor(time / this.step)))
    const start = this.times.length - count
    const buckets = this.times.slice(start).map((from) => ({ from, to: from + this.step }))
    const total = buckets.map((_, index) => (this.sums[start + index + 1] ?? 0) - (this.sums[start + index] ?? 0))
    return { buckets, total, events: new Map() }
  }

  private ofADay(): number {
    return Math.max(1, Math.ceil(DAY / this.step))
  }

  private forget(kept: number): void {
    const dropped = this.times.length - kept
    this.times = this.times.slice(dropped)
    this.sums = this.sums.slice(dropped)
    this.expectations = this.expectations.slice(dropped)
    this.firstKnown = Math.max(0, this.firstKnown - dropped)
  }
}
