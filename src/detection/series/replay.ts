import { burstSize } from '../burst.ts'
import type { LocalTime } from '../local-time.ts'
import type { Status } from '../verdict.ts'
import { assessVolume, type Kind, statusOf, type VolumeConfig } from '../volume-assessment.ts'
import { expectedOf } from '../volume-window.ts'
import { Past } from './past.ts'
import { Surprise } from './surprise.ts'

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
