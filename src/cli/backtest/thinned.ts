import type { Band } from '../../detection/index.ts'

/** Maximum number of series in a picture: with more, it is too tall to scroll and each has too few points to show anything. */
export const MOST_DRAWN = 50
/** Maximum points of one series, more than a line has pixels, and of all together, so that the picture stays under 2 MB. */
const MOST_POINTS = 2_400
const ALL_POINTS = 16_000

export const pointsOfEach = (series: number): number => Math.min(MOST_POINTS, Math.floor(ALL_POINTS / series))

/** Consecutive rows that are drawn as one. */
export interface Stretch {
  /** Start of its first row and start of its last, epoch ms. */
  readonly from: number
  readonly to: number
  readonly min: number
  readonly max: number
  /** Whether the minimum comes before the maximum. */
  readonly rises: boolean
  /** The lowest and the highest bound of its rows' bands; null when no row has a band. */
  readonly band: Band | null
  /** Whether rows are missing before it. */
  readonly isAfterGap: boolean
}

/** Rows more than this many steps apart have a gap between them. */
const GAP_STEPS = 1.5

/**
 * A series thinned out for a picture, however many rows it has: whenever there are more than `most` stretches, they become twice as
 * long. Each keeps its minimum and maximum, so no spike is lost.
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
