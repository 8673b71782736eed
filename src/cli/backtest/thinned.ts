import type { Band } from '../../detection/index.ts'

/** More would be higher than any screen scrolls, and each gets too few points to show anything. */
export const MOST_DRAWN = 50
/** Points of one series: more than a line has pixels. Of all together, so that the picture stays under 2 MB. */
const MOST_POINTS = 2_400
const ALL_POINTS = 16_000

export const pointsOfEach = (series: number): number => Math.min(MOST_POINTS, Math.floor(ALL_POINTS / series))

/** Rows that are drawn as one. */
export interface Stretch {
  /** Start of its first row and of its last, epoch ms. */
  readonly from: number
  readonly to: number
  readonly min: number
  readonly max: number
  /** Whether the least comes before the greatest. */
  readonly rises: boolean
  /** The widest band of its rows; null where none has one. */
  readonly band: Band | null
  /** Whether rows are missing before it. */
  readonly isAfterGap: boolean
}

/** A longer way to the next row than so many steps is a gap. */
const GAP_STEPS = 1.5

/**
 * A series with so few stretches that a picture can hold them, however many rows it has: whenever there are too many, they become twice as
 * long. Each keeps its least and its greatest value, so no spike is lost.
 */
export class Thinned {
  stretches: Stretch[] = []
  private readonly most: number
  /** Length of a stretch, ms. */
  private length = 1_000

  constructor(most: number) {
    this.most = most
  }

  add(time: number, value: number, step: number, band: Band | null): void {
    const before = this.stretches.at(-1)
    const isAfterGap = before !== undefined && time - before.to > GAP_STEPS * step
    this.append(this.stretches, { from: time, to: time, min: value, max: value, rises: true, band, isAfterGap })
    while (this.stretches.length > this.most) {
      this.length *= 2
      const longer: Stretch[] = []
      for (const one of this.stretches) this.append(longer, one)
      this.stretches = longer
    }
  }

  private append(to: Stretch[], next: Stretch): void {
    const last = to.at(-1)
    const place = (time: number) => Math.floor(time / this.length)
    if (last === undefined || place(last.from) !== place(next.from)) to.push(next)
    else to[to.length - 1] = joined(last, next)
  }
}

function joined(a: Stretch, b: Stretch): Stretch {
  const [hasMin, hasMax] = [a.min <= b.min, a.max >= b.max]
  return {
    from: a.from,
    to: b.to,
    min: hasMin ? a.min : b.min,
    max: hasMax ? a.max : b.max,
    rises: hasMin === hasMax ? (hasMin ? a : b).rises : hasMin,
    band: widest(a.band, b.band),
    isAfterGap: a.isAfterGap,
  }
}

const widest = (a: Band | null, b: Band | null): Band | null =>
  a === null || b === null ? (a ?? b) : { low: Math.min(a.low, b.low), high: Math.max(a.high, b.high) }
