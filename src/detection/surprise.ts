import { DAY } from '../lib/index.ts'
import type { VolumeConfig } from './volume-assessment.ts'

/** Roughly how many values spreads and levels remember: with steps of five minutes, two and a half weeks and ten days. */
const LEVEL_MEMORY = 5_000
const SEASON_MEMORY = 3_000
/** Number of values over which the two predictions compete. */
const CONTEST_MEMORY = 2_000
/** Half of the greatest surprise of about the last day is subtracted, so that a lasting change surprises less than its beginning. */
const HABIT_SHARE = 0.5
const HABIT_HALF_LIFE = DAY
/** This share of each surprise always remains, so that a greater one always has a greater score. */
const LEAST_SHARE = 0.2
/** Surprise with a score of one half: once in a thousand values. */
const HALF_SCORE_AT = 3

/**
 * Scores how surprising each value of a series is, in two views: its distance from the prediction (by season or by level,
 * whichever was better recently), and its jump from the value before. Each is ranked by how rare it has been in this very
 * series, so that the score means the same for calm and noisy ones.
 */
export class Surprise {
  private readonly direction: VolumeConfig['direction']
  private readonly level = new RunningMoments(LEVEL_MEMORY)
  private readonly jumps = new RunningMoments(LEVEL_MEMORY)
  private readonly residuals = new RunningMoments(SEASON_MEMORY)
  private readonly levelErrors = new RunningMoments(CONTEST_MEMORY)
  private readonly seasonErrors = new RunningMoments(CONTEST_MEMORY)
  private readonly distanceRarity = new Rarity()
  private readonly jumpRarity = new Rarity()
  private before: { time: number; value: number } | null = null
  private habit = 0

  constructor(direction: VolumeConfig['direction']) {
    this.direction = direction
  }

  /** The current level; null before the first value. */
  get levelNow(): number | null {
    return this.level.mean
  }

  /** @param seasonal the season's prediction; null when unknown */
  next(time: number, value: number, seasonal: number | null): number {
    const distance = this.distance(value, seasonal)
    const jump = this.before === null ? 0 : this.jumps.deviation(value - this.before.value)
    const surprise = Math.max(
      this.distanceRarity.next(this.inDirection(distance)),
      this.jumpRarity.next(this.inDirection(jump)),
    )
    const rested = this.before === null ? 0 : (time - this.before.time) / HABIT_HALF_LIFE
    const habit = this.habit * 0.5 ** rested
    this.habit = Math.max(habit, surprise)
    if (this.before !== null) this.jumps.add(value - this.before.value)
    this.before = { time, value }
    const fresh = Math.max(LEAST_SHARE * surprise, surprise - HABIT_SHARE * habit)
    return fresh / (fresh + HALF_SCORE_AT)
  }

  private distance(value: number, seasonal: number | null): number {
    const fromLevel = value - (this.level.mean ?? value)
    const bySeason = seasonal !== null && (this.seasonErrors.mean ?? 0) < (this.levelErrors.mean ?? 0)
    const distance = bySeason ? this.residuals.deviation(value - seasonal) : this.level.deviation(value)
    if (seasonal !== null) {
      this.seasonErrors.add(Math.abs(value - seasonal))
      this.residuals.add(value - seasonal)
    }
    this.levelErrors.add(Math.abs(fromLevel))
    this.level.add(value)
    return distance
  }

  private inDirection(deviation: number): number {
    if (this.direction === 'both') return Math.abs(deviation)
    return Math.max(0, this.direction === 'down' ? -deviation : deviation)
  }
}

/** Per octave: neighbouring bins differ by 9 %. */
const BINS_PER_OCTAVE = 8
const BINS = 400
/** Values from 2⁻²⁵ to 2²⁵ have their own bins. Deviations in units of their spread do not go beyond. */
const MIDDLE = BINS / 2
/** Until this many values, nothing counts as rare. */
const WARM_UP = 100
/** Beyond everything seen so far, rarity grows with the distance. */
const EXCESS_WEIGHT = 2

/** Returns for each value of a stream how rare one at least as large has been so far, in powers of ten: 3 means once in a thousand. */
class Rarity {
  private readonly counts = new Uint32Array(BINS)
  private seen = 0
  private largest = 0

  next(value: number): number {
    const bin = Math.min(BINS - 1, Math.max(0, Math.floor(MIDDLE + BINS_PER_OCTAVE * Math.log2(Math.max(value, 1e-9)))))
    let asLarge = 0
    for (let at = bin; at < BINS; at++) asLarge += this.counts[at] ?? 0
    const isKnown = this.seen >= WARM_UP
    const excess = value > this.largest && this.largest > 0 ? EXCESS_WEIGHT * Math.log10(value / this.largest) : 0
    const rarity = isKnown ? Math.log10((this.seen + 1) / (asLarge + 1)) + excess : 0
    this.counts[bin] = (this.counts[bin] ?? 0) + 1
    this.seen++
    this.largest = Math.max(this.largest, value)
    return rarity
  }
}

/** Mean and standard deviation of a stream in which older values count less (West 1979). */
class RunningMoments {
  private readonly memory: number
  private count = 0
  private average = 0
  private variance = 0

  /** @param memory roughly how many values it remembers */
  constructor(memory: number) {
    this.memory = memory
  }

  get mean(): number | null {
    return this.count === 0 ? null : this.average
  }

  /** Number of standard deviations from the mean; 0 while too little is known. */
  deviation(value: number): number {
    return this.count < MIN_VALUES || this.variance === 0 ? 0 : (value - this.average) / Math.sqrt(this.variance)
  }

  add(value: number): void {
    this.count++
    const weight = Math.max(1 / this.memory, 1 / this.count)
    const difference = value - this.average
    this.average += weight * difference
    this.variance = (1 - weight) * (this.variance + weight * difference ** 2)
  }
}

const MIN_VALUES = 20
