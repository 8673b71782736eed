const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** Times in epoch ms. */
export interface ChartWindow {
  from: number
  to: number
  bucket: '5m' | '1h' | '1d'
  bucketMinutes: number
}

/**
 * The time around an alert: what was usual before it, and what came after it. The ends lie on full buckets, so that an alert
 * that lasts is asked for again only when there is a new one.
 *
 * @param judgedMinutes length of what one judgement is about: figures of shorter buckets would be noise
 */
export function chartWindow(since: number, ended: number | null, now: number, judgedMinutes: number): ChartWindow {
  const length = (ended ?? now) - since
  const isCoarse = judgedMinutes >= 60
  // Not a whole day: within two days the axis shows times.
  const margin = Math.min(DAY, Math.max(isCoarse ? 18 * HOUR : 3 * HOUR, length))
  const from = since - margin
  const to = ended === null ? now : Math.min(now, ended + margin)
  return windowOf(from, to, isCoarse)
}

/** As few buckets show nothing but themselves. */
const LEAST_BUCKETS = 6

/**
 * A part of a chart's time, in buckets as fine as its length allows, and never finer than what one judgement is about.
 *
 * @param part as it was dragged: it may reach beyond the chart, and be too short to draw
 */
export function zoomedWindow(
  whole: ChartWindow,
  part: Pick<ChartWindow, 'from' | 'to'>,
  judgedMinutes: number,
): ChartWindow {
  const isCoarse = judgedMinutes >= 60
  const least = LEAST_BUCKETS * (isCoarse ? HOUR : 5 * MINUTE)
  const from = Math.max(whole.from, part.from)
  const to = Math.min(whole.to, part.to)
  const lacking = Math.max(0, least - (to - from)) / 2
  return windowOf(Math.max(whole.from, from - lacking), Math.min(whole.to, to + lacking), isCoarse)
}

function windowOf(from: number, to: number, isCoarse: boolean): ChartWindow {
  const length = to - from
  const [bucket, bucketMinutes] =
    !isCoarse && length <= 1.2 * DAY
      ? (['5m', 5] as const)
      : length <= 15 * DAY
        ? (['1h', 60] as const)
        : (['1d', 24 * 60] as const)
  const step = Math.min(HOUR, bucketMinutes * MINUTE)
  return { from: Math.floor(from / step) * step, to: Math.ceil(to / step) * step, bucket, bucketMinutes }
}
