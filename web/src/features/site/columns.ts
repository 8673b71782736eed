import type { Cut } from '../../api/analytics.ts'

interface Series {
  key: string
  points: readonly { t: string; value: number | null }[]
}

interface Columns<S extends Series> {
  series: S[]
  /** ms */
  width: number
}

/** Merges successive buckets into at most `most` columns, so that each is visible. Columns begin at round times of the clock. */
export function columnsOf<S extends Series>(series: readonly S[], bucketSeconds: number, most: number): Columns<S> {
  const bucket = bucketSeconds * 1_000
  const count = Math.max(1, Math.ceil((series[0]?.points.length ?? 0) / most))
  if (count === 1) return { series: [...series], width: bucket }
  const width = bucket * niceFactor(count, bucketSeconds)
  return { series: series.map((each) => ({ ...each, points: summed(each.points, width) })), width }
}

/** Round lengths of a column, seconds. */
const NICE = [60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 10_800, 14_400, 21_600, 43_200, 86_400]

function niceFactor(least: number, bucketSeconds: number): number {
  const nice = NICE.find((seconds) => seconds >= least * bucketSeconds && seconds % bucketSeconds === 0)
  return nice === undefined ? least : nice / bucketSeconds
}

function summed(points: Series['points'], width: number): { t: string; value: number }[] {
  const sums = new Map<number, number>()
  for (const { t, value } of points) {
    const start = Math.floor(Date.parse(t) / width) * width
    sums.set(start, (sums.get(start) ?? 0) + (value ?? 0))
  }
  return Array.from(sums, ([start, value]) => ({ t: new Date(start).toISOString(), value }))
}

/** The series moved `by` ms later, so that the previous window lies under this one. */
export const later = <S extends Series>(series: readonly S[], by: number): S[] =>
  series.map((each) => ({
    ...each,
    points: each.points.map(({ t, value }) => ({ t: new Date(Date.parse(t) + by).toISOString(), value })),
  }))

/** A series with the sums of all. */
export function totalOf(series: readonly Series[], key: string): Series {
  const sums = new Map<string, number>()
  for (const { points } of series) for (const { t, value } of points) sums.set(t, (sums.get(t) ?? 0) + (value ?? 0))
  return { key, points: Array.from(sums, ([t, value]) => ({ t, value })) }
}

type Bucket = NonNullable<Cut['bucket']>

const HOUR = 3_600_000
const DAY = 24 * HOUR

/** The bucket for percentiles, because a minute with a few executions has none worth drawing. @param length of the window, ms */
export const fineBucket = (length: number): Bucket => (length < 20 * HOUR ? '5m' : 'auto')

/** The bucket for shares, which jump about with few events. @param length of the window, ms */
export function calmBucket(length: number): Bucket {
  if (length < 20 * HOUR) return '5m'
  return length <= 31 * DAY ? '1h' : 'auto'
}

/** Events that shops and lead forms live on, by Google's names, most important first. */
const IMPORTANT = [
  'purchase',
  'refund',
  'begin_checkout',
  'add_to_cart',
  'generate_lead',
  'sign_up',
  'add_payment_info',
  'view_item',
]
/** Number of named lines reserved for them. */
const KEPT = 4

/**
 * The events that a chart names: the largest, always including those in `IMPORTANT`, however rare.
 *
 * @param names the largest first
 * @returns at most `most` of them, in the same order
 */
export function namedEvents(names: readonly string[], most: number): string[] {
  const important = IMPORTANT.filter((name) => names.includes(name)).slice(0, KEPT)
  const others = names.filter((name) => !important.includes(name)).slice(0, most - important.length)
  const chosen = new Set([...important, ...others])
  return names.filter((name) => chosen.has(name))
}

/** The series of the named events, and the sum of the others, whose name is that of none of them. */
export function withoutMany(series: readonly Series[], most: number): (Series & { token?: string })[] {
  if (series.length <= most) return [...series]
  const keys = series.map(({ key }) => key)
  const names = new Set(namedEvents(keys, most))
  const [named, others] = [series.filter(({ key }) => names.has(key)), series.filter(({ key }) => !names.has(key))]
  const rest = names.has('other') ? 'all others' : 'other'
  return [...named, { ...totalOf(others, rest), token: '--series-other' }]
}
