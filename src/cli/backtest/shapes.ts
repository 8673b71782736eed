import type { TimeRange } from '../../detection/index.ts'
import type { Stretch } from './thinned.ts'

/** Where a time and a value are drawn, px. */
export interface Scale {
  readonly x: (time: number) => number
  readonly y: (value: number) => number
}

/** A tenth of a pixel is as fine as any screen shows. */
const px = (value: number): string => String(Number(value.toFixed(1)))

const point = (x: number, y: number): string => `${px(x)} ${px(y)}`

/** A line through all values, interrupted where rows are missing. Both extremes of a stretch are on it, in their order. */
export function linePath(stretches: readonly Stretch[], { x, y }: Scale): string {
  return stretches
    .map(({ from, to, min, max, rises, isAfterGap }, place) => {
      const isFirst = place === 0 || isAfterGap
      const [begin, end] = rises ? [min, max] : [max, min]
      const start = `${isFirst ? 'M' : 'L'}${point(x(from), y(begin))}`
      if (min !== max || to > from) return `${start}L${point(x(to), y(end))}`
      // A line without length is a dot: a row between two gaps would not be seen.
      return isFirst ? `${start}h0` : start
    })
    .join('')
}

/** The area of the bands, interrupted where rows are missing or nothing is known. */
export function bandPath(stretches: readonly Stretch[], { x, y }: Scale): string {
  const areas: Stretch[][] = []
  let area: Stretch[] | null = null
  for (const stretch of stretches) {
    if (stretch.band === null) {
      area = null
      continue
    }
    if (area === null || stretch.isAfterGap) {
      area = []
      areas.push(area)
    }
    area.push(stretch)
  }
  return areas
    .map((one) => {
      const upper = one.map(({ from, band }) => point(x(from), y(band?.high ?? 0)))
      const lower = one.map(({ from, band }) => point(x(from), y(band?.low ?? 0))).reverse()
      return `M${[...upper, ...lower].join('L')}Z`
    })
    .join('')
}

interface Strip {
  readonly left: number
  readonly right: number
  /** Ranges that are nearer to each other are drawn as one, px. */
  readonly gap: number
  readonly y: number
  readonly height: number
}

/** The least that can be seen, px. */
export const LEAST_MARK = 1.5

/** Rectangles for ranges of time. */
export function stripPath(ranges: readonly TimeRange[], { x }: Scale, { left, right, gap, y, height }: Strip): string {
  const drawn: { from: number; to: number }[] = []
  for (const range of ranges.toSorted((a, b) => a.from - b.from)) {
    const [from, to] = [x(range.from), x(range.to)]
    if (to < left || from > right) continue
    const begin = Math.min(Math.max(left, from), right - LEAST_MARK)
    const end = Math.min(right, Math.max(to, begin + LEAST_MARK))
    const last = drawn.at(-1)
    if (last !== undefined && begin - last.to < gap) last.to = Math.max(last.to, end)
    else drawn.push({ from: begin, to: end })
  }
  return drawn.map(({ from, to }) => `M${px(from)} ${y}h${px(to - from)}v${height}h-${px(to - from)}z`).join('')
}
