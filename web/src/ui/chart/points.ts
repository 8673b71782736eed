export interface TimeSeries {
  /** The name it has on every chart: its colour comes from it. */
  key: string
  points: readonly ReportPoint[]
  /** A token of `tokens.css` instead of the colour of the name. */
  token?: string
  /** Values of moments instead of buckets. */
  areInstants?: boolean
  /** The period before, or what was expected: drawn as a dashed grey line. */
  isReference?: boolean
  /** Where its values should be at least: a dashed line of its colour. */
  target?: number
  /** Until when its values are complete, epoch ms, where that is before the end of the axis. */
  knownUntil?: number
}

/** A value of a bucket, as reports give it. */
export interface ReportPoint {
  /** ISO start of the bucket. */
  t: string
  /** Null is a gap. */
  value: number | null
  /** What a rate or percentile is taken of; absent for counts. */
  base?: number
}

/** Below it a rate says little: one failure more or less moves it by over five per cent. */
export const THIN_BASE = 20

/** One point of a chart. */
export interface PlacedPoint {
  /** The middle of the bucket, epoch ms. */
  at: number
  /** Start and end of the bucket. */
  start: number
  end: number
  value: number | null
  base: number | undefined
  /** The window ends, or begins, within the bucket: more is to come, or is not shown. */
  isPartial: boolean
}

/**
 * Points at their places. A rate of a bucket that is not over is left out until enough is counted in it: email at 36 % after
 * three of the hour's events is not news.
 *
 * @param from ends of the window, epoch ms
 */
export function placed(points: readonly ReportPoint[], from: number, to: number): PlacedPoint[] {
  const [first, second] = points.map(({ t }) => Date.parse(t))
  const width = first === undefined || second === undefined ? 0 : second - first
  return points.map(({ t, value, base }, index) => {
    const start = Date.parse(t)
    const next = points[index + 1]
    // A local day has 23 or 25 hours when clocks change: the bucket ends where the next begins.
    const end = next === undefined ? start + width : Date.parse(next.t)
    const isPartial = start < from || end > to
    const isJudged = !isPartial || base === undefined || base >= THIN_BASE
    return { at: start + width / 2, start, end, value: isJudged ? value : null, base, isPartial }
  })
}

/** The points of a series, in the window of its chart. */
export const pointsOf = ({ points, areInstants, knownUntil }: TimeSeries, from: number, to: number): PlacedPoint[] =>
  areInstants === true ? points.map(instant) : placed(points, from, Math.min(to, knownUntil ?? to))

/** Times in epoch ms. */
export interface Stretch {
  from: number
  to: number
}

/** The parts of the window in which a bucket is not over, or not shown as a whole: one at either end at most. */
export function partialStretches(points: readonly PlacedPoint[], from: number, to: number): Stretch[] {
  const partial = points.filter(({ isPartial }) => isPartial)
  const begun = partial.filter(({ start }) => start < from).map(({ end }) => end)
  const open = partial.filter(({ start, end }) => start >= from && end > to).map(({ start }) => start)
  return [
    ...(begun.length === 0 ? [] : [{ from, to: Math.min(to, Math.max(...begun)) }]),
    ...(open.length === 0 ? [] : [{ from: Math.min(...open), to }]),
  ]
}

/** A value of a moment instead of a bucket. */
export function instant({ t, value, base }: ReportPoint): PlacedPoint {
  const at = Date.parse(t)
  return { at, start: at, end: at, value, base, isPartial: false }
}

export const isThin = ({ base, value }: PlacedPoint): boolean =>
  value !== null && base !== undefined && base < THIN_BASE

/** Not to be read like the rest of its line: of few, or of a time of which more is to come. */
export const isUncertain = (point: PlacedPoint): boolean => isThin(point) || (point.isPartial && point.value !== null)

/** A point of a line in one of its two strokes; `joins`: it only leads the line there, and belongs to the other stroke. */
export interface Stroke {
  point: PlacedPoint
  joins: boolean
}

/**
 * A line in two strokes: what is known well, and what little is known of or is not over, with the points on either side that it joins. Null
 * keeps a gap.
 */
export function strokes(points: readonly PlacedPoint[]): { solid: (Stroke | null)[]; thin: (Stroke | null)[] } {
  const solid = points.map((point) => (isUncertain(point) ? null : { point, joins: false }))
  const thin = points.map((point, index) => {
    if (isUncertain(point)) return { point, joins: false }
    const [before, after] = [points[index - 1], points[index + 1]]
    const touches = (before !== undefined && isUncertain(before)) || (after !== undefined && isUncertain(after))
    return touches && point.value !== null ? { point, joins: true } : null
  })
  return { solid, thin }
}

/** Whether no line leads to or from it: it has to be drawn as a dot. */
export function isAlone(points: readonly (Stroke | null)[], index: number): boolean {
  const has = (at: number) => (points[at]?.point.value ?? null) !== null
  return has(index) && !has(index - 1) && !has(index + 1)
}

/** What `strokes` says, for the note of a chart; undefined where every line is known well. */
export const dottedNote = (series: readonly TimeSeries[], from: number, to: number): string | undefined =>
  series.some((each) => each.isReference !== true && pointsOf(each, from, to).some(isUncertain))
    ? 'pale and dotted: little data, or not over yet'
    : undefined
