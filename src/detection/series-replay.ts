import { DAY, HOUR } from '../lib/index.ts'
import { burstSize } from './burst.ts'
import { median } from './statistics.ts'
import { Surprise } from './surprise.ts'
import type { LocalTime } from './time.ts'
import type { Status } from './verdict.ts'
import { assessVolume, type Kind, statusOf, type VolumeConfig } from './volume-assessment.ts'
import { MIN_WEEKS } from './volume-baseline.ts'
import { expectedOf, type Window } from './volume-window.ts'

export interface Judgement {
  /** What the value should have been, null for the first. */
  readonly expected: number | null
  /** 0–1, the larger the more surprising. */
  readonly score: number
  readonly status: Status
}

/** Values that bursts are measured over, as many as the probe has five-minute buckets; and how often they are. */
const BURST_VALUES = 72
const BURST_EVERY = 12

/**
 * Judges a series with a fixed step value by value as `data_volume` judges a site, knowing nothing of what comes later. Gaps
 * count as not known. Times must not go back.
 */
export class SeriesReplay {
  private readonly config: VolumeConfig
  private readonly past: Past
  private readonly surprise: Surprise
  private readonly latest: number[] = []
  private seen = 0
  private burst = 1
  private before: Kind | null = null

  constructor(clock: LocalTime, config: VolumeConfig) {
    this.config = config
    this.past = new Past(clock, config.weeks)
    this.surprise = new Surprise(config.direction)
  }

  next(time: number, value: number): Judgement {
    this.past.add(time, value)
    this.measureBurst(value)
    const windows = this.past.windows()
    const own = windows.next().value
    const seasonal = own === undefined || own.samples.length === 0 ? null : expectedOf(own)
    const expected = seasonal ?? this.surprise.levelNow
    const score = this.surprise.next(time, value, seasonal)
    const assessment = assessVolume(own === undefined ? [] : startingWith(own, windows), this.burst, this.config)
    const status = assessment === null ? 'ok' : statusOf(assessment.kind, this.before, this.config)
    this.before = assessment?.kind ?? null
    return { expected, score, status }
  }

  private measureBurst(value: number): void {
    this.latest.push(value)
    if (this.latest.length > BURST_VALUES) this.latest.shift()
    if (this.seen++ % BURST_EVERY === 0) this.burst = burstSize(this.latest, 1)
  }
}

function* startingWith<T>(first: T, others: Iterable<T>): Generator<T> {
  yield first
  yield* others
}

const DAYS_A_WEEK = 7
/** The longest window, as in the probe. */
const LONGEST = DAY
const STEPS_TO_LEARN = 25

/** The values of a series with a fixed step, as far back as they are compared with. */
class Past {
  private readonly clock: LocalTime
  private readonly weeks: number
  private times: number[] = []
  /** Sum of all values before each. One longer than `times`. */
  private sums: number[] = [0]
  private readonly firstSteps: number[] = []
  private step = HOUR

  constructor(clock: LocalTime, weeks: number) {
    this.clock = clock
    this.weeks = weeks
  }

  /** Values come in order of time; several may have the same. */
  add(time: number, value: number): void {
    this.learnStep(time)
    this.times.push(time)
    this.sums.push((this.sums.at(-1) ?? 0) + value)
    this.forget(time - (this.weeks * DAYS_A_WEEK + 2) * DAY)
  }

  /** The newest value alone, then more and more of them, each window twice as long as the one before. */
  *windows(): Generator<Window, undefined> {
    const newest = this.times.at(-1)
    if (newest === undefined) return
    const { step } = this
    for (let length = step; length === step || length <= LONGEST; length *= 2) {
      const range = { from: newest + step - length, to: newest + step }
      const { sum, count } = this.between(range.from, range.to)
      const samples = this.samplesFor(range.from, range.to, count)
      yield { ...range, measured: sum, samples, covered: length, caution: 1 }
      if (range.from <= (this.times[0] ?? 0)) return
    }
  }

  /** What `count` values of the same time in earlier weeks add up to; of yesterday where two weeks are not known. */
  private samplesFor(from: number, to: number, count: number): number[] {
    const sums: number[] = []
    for (let week = 1; week <= this.weeks; week++) {
      const mean = this.meanBefore(from, to, week * DAYS_A_WEEK)
      if (mean !== null) sums.push(mean * count)
    }
    if (sums.length >= MIN_WEEKS) return sums
    const yesterday = this.meanBefore(from, to, 1)
    return yesterday === null ? [] : [yesterday * count]
  }

  /** Mean value of the stretch so many days earlier. A stretch under an hour is taken with what is around it. */
  private meanBefore(from: number, to: number, days: number): number | null {
    const around = Math.max(0, (HOUR - (to - from)) / 2)
    const start = this.clock.daysBefore(from, days) - around
    const end = Math.min(start + (to - from) + 2 * around, from)
    const { sum, count } = this.between(start, end)
    return 2 * count * this.step >= end - start && count > 0 ? sum / count : null
  }

  /** The usual step, not the shortest: a row that comes twice or early would make one of seconds. */
  private learnStep(time: number): void {
    const before = this.times.at(-1)
    if (before === undefined || time === before || this.firstSteps.length === STEPS_TO_LEARN) return
    this.firstSteps.push(time - before)
    this.step = median(this.firstSteps)
  }

  private between(from: number, to: number): { sum: number; count: number } {
    const [first, end] = [this.indexAt(from), this.indexAt(to)]
    return { sum: (this.sums[end] ?? 0) - (this.sums[first] ?? 0), count: end - first }
  }

  /** Index of the first value at or after `time`. */
  private indexAt(time: number): number {
    let low = 0
    let high = this.times.length
    while (low < high) {
      const middle = (low + high) >> 1
      if ((this.times[middle] ?? 0) < time) low = middle + 1
      else high = middle
    }
    return low
  }

  /** Drops what is too old once it is half of everything, so that a stream of any length fits. */
  private forget(before: number): void {
    const middle = this.times.length >> 1
    if (middle === 0 || (this.times[middle] ?? before) >= before) return
    const offset = this.sums[middle] ?? 0
    this.times = this.times.slice(middle)
    this.sums = this.sums.slice(middle).map((sum) => sum - offset)
  }
}
