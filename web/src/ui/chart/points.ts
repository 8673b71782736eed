export interface TimeSeries {
  /** Its name on every chart, which determines its colour. */
  key: string
  points: readonly ReportPoint[]
  /** A token of `tokens.css`, instead of the name's colour. */
  token?: string
  /** Values of moments instead of buckets. */
  areInstants?: boolean
  /** Whether it is a reference, such as the previous period or the expectation, drawn as a dashed grey line. */
  isReference?: boolean
  /** Minimum for its values, drawn as a dashed line of its colour. */
  target?: number
  /** Time until which its values are complete, epoch ms, if before the end of the axis. */
  knownUntil?: number
}

/** A value of a bucket, as reports give it. */
interface ReportPoint {
  /** ISO start of the bucket. */
  t: string
  /** Null is a gap. */
  value: number | null
  /** The number of events behind a rate or percentile; absent for counts. */
  base?: number
}

const DAY = 86_400_000

/** Below this base a rate says little: one failure more or less moves it by over 5 %. */
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
  /** Whether the window begins or ends within the bucket, so that its value is not complete. */
  isPartial: boolean
}

/**
 * Places points on the axis. The rate of a bucket that is not over is left out until its base is large enough: e-mail at 36 % after three
 * of the hour's events is not news.
 *
 * @param from ends of the window, epoch ms
 */
export function placed(points: readonly ReportPoint[], from: number, to: number): PlacedPoint[] {
  const starts = points.map(({ t }) => Date.parse(t))
  const width = usualWidth(starts)
  return points.map(({ value, base }, index) => {
    const start = starts[index] ?? 0
    // A local day has 23 or 25 hours when clocks change: the bucket ends where the next begins.
    const end = starts[index + 1] ?? start + width
    const isPartial = start < from || end > to
    const isJudged = !isPartial || base === undefined || base >= THIN_BASE
    return { at: (start + end) / 2, start, end, value: isJudged ? value : null, base, isPartial }
  })
}

/** The length of a bucket in which no clock changes, ms; a day has 24 hours. */
function usualWidth(starts: readonly number[]): number {
  const widths = starts.slice(1).map((start, index) => start - (starts[index] ?? start))
  const middle = widths.sort((a, b) => a - b)[widths.length >> 1] ?? 0
  return middle > DAY / 2 ? Math.round(middle / DAY) * DAY : middle
}

/** The points of a series, in the window of its chart. */
export const pointsOf = ({ points, areInstants, knownUntil }: TimeSeries, from: number, to: number): PlacedPoint[] =>
  areInstants === true ? points.map(instant) : placed(points, from, Math.min(to, knownUntil ?? to))

/** Times in epoch ms. */
export interface Stretch {
  from: number
  to: number
}

/** The partial buckets of the window, at most one at each end. */
export function partialStretches(points: readonly PlacedPoint[], from: number, to: number): Stretch[] {
  const partial = points.filter(({ isPartial }) => isPartial)
  const begun = partial.filter(({ start }) => start < from).map(({ end }) => end)
  const open = partial.filter(({ start, end }) => start >= from && end > to).map(({ start }) => start)
  return [
    ...(begun.length === 0 ? [] : [{ from, to: Math.min(to, Math.max(...begun)) }]),
    ...(open.length === 0 ? [] : [{ from: Math.min(...open), to }]),
  ]
}

/** The point of a single moment instead of a bucket. */
export function instant({ t, value, base }: ReportPoint): PlacedPoint {
  const at = Date.parse(t)
  return { at, start: at, end: at, value, base, isPartial: false }
}

export const isThin = ({ base, value }: PlacedPoint): boolean =>
  value !== null && base !== undefined && base < THIN_BASE

/** Whether a value is less reliable than the rest of its line: it has a small base, or its bucket is not over. */
const isUncertain = (point: PlacedPoint): boolean => isThin(point) || (point.isPartial && point.value !== null)

/** A point of one of a line's two strokes. With `joins` it belongs to the other stroke and only connects the two. */
export interface Stroke {
  point: PlacedPoint
  joins: boolean
}

/**
 * Splits a line into two strokes: the reliable points, and the uncertain ones with the points on either side that connect them. Null is a
 * gap.
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

/** Whether a point has no neighbours in its line, so that it must be drawn as a dot. */
export function isAlone(points: readonly (Stroke | null)[], index: number): boolean {
  const has = (at: number) => (points[at]?.point.value ?? null) !== null
  return has(index) && !has(index - 1) && !has(index + 1)
}

/** The chart's note that explains the thin stroke of `strokes`; undefined when no point is uncertain. */
export const dottedNote = (series: readonly TimeSeries[], from: number, to: number): string | undefined =>
  series.some((each) => each.isReference !== true && pointsOf(each, from, to).some(isUncertain))
    ? 'pale and dotted: little data, or not over yet'
    : undefined

export interface TimeChartData {
  series: readonly TimeSeries[]
  /** Bars are stacked. */
  kind: 'bars' | 'lines'
  /** The ends of the axis, epoch ms: the same for all charts of a page. */
  from: number
  to: number
  /** IANA zone of the axis and the tooltip. */
  zone?: string
  /** `share` is an axis from 0 to 1, `rate` one that ends at 1 when the values come near. By default the axis fits the values. */
  scale?: 'share' | 'rate'
  /** Formats a value; by default as a count. */
  format?: (value: number) => string
  alerts?: readonly AlertSpan[]
  deploys?: readonly DeployMark[]
  /** The stretch that the user clicked, epoch ms; it stays while other charts are shown. */
  picked?: { from: number; to: number } | null
}

/** A change of a version at a moment, epoch ms. */
export interface DeployMark {
  at: number
  /** A few characters, such as "v42"; without it only the line is drawn. */
  label?: string
}

/** The time of an alert, epoch ms; `to` is null while it is unresolved. */
export interface AlertSpan {
  from: number
  to: number | null
  severity: 'warning' | 'critical'
}
