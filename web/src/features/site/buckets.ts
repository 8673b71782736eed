import type { Cut } from '../../api/analytics.ts'

type Bucket = NonNullable<Cut['bucket']>

const HOUR = 3_600_000
const DAY = 24 * HOUR

/** For percentiles: a minute of a few executions has none worth drawing. @param length of the window, ms */
export const fineBucket = (length: number): Bucket => (length < 20 * HOUR ? '5m' : 'auto')

/** For shares, which jump about where few events are behind them. @param length of the window, ms */
export function calmBucket(length: number): Bucket {
  if (length < 20 * HOUR) return '5m'
  return length <= 31 * DAY ? '1h' : 'auto'
}
