import type { EChartsCoreOption } from 'echarts/core'
import type { ChartColors } from '../../ui/chart/colors.ts'
import { axisUpTo } from '../../ui/chart/ticks.ts'

export interface Band {
  low: number | null
  high: number | null
  expected: number | null
  /** The time for which the band is known, epoch ms; null for the whole chart. */
  during: { from: number; to: number } | null
  format: (value: number) => string
  /** What the figures cannot exceed. */
  most?: number
}

/** Adds the band to a time chart: what would have passed as a green area with its bound, and what was usual. */
export function withBand(option: EChartsCoreOption, band: Band, colors: ChartColors): EChartsCoreOption {
  const series = Array.isArray(option.series) ? (option.series as object[]) : []
  const { most } = band
  const yAxis = {
    ...(option.yAxis as object),
    ...(most !== undefined && axisUpTo(most)),
  }
  return { ...option, yAxis, series: [bandSeries(band, colors), ...series] }
}

/** A series without points that carries the area and the lines. */
function bandSeries(band: Band, colors: ChartColors): object {
  const { low, high, expected, during, format } = band
  const [left, right] = [during?.from ?? Number.NEGATIVE_INFINITY, during?.to ?? Number.POSITIVE_INFINITY]
  const ground = [
    { xAxis: left, yAxis: low ?? Number.NEGATIVE_INFINITY, itemStyle: { color: colors.soft('--ok', 0.1) } },
    { xAxis: right, yAxis: high ?? Number.POSITIVE_INFINITY },
  ]
  const bound = (value: number | null, words: string) =>
    value === null ? [] : [line(value, `${words} ${format(value)}`, '--ok', '--ok-text', 'solid', during, colors)]
  const usual =
    expected === null
      ? []
      : [line(expected, `usual ${format(expected)}`, '--line-strong', '--text-muted', 'dashed', during, colors)]
  return {
    type: 'line',
    data: [],
    silent: true,
    tooltip: { show: false },
    markArea: { silent: true, data: low === null && high === null ? [] : [ground] },
    markLine: {
      silent: true,
      symbol: 'none',
      animation: false,
      data: [...bound(low, 'passes from'), ...bound(high, 'passes up to'), ...usual],
    },
  }
}

function line(
  value: number,
  words: string,
  color: string,
  text: string,
  type: string,
  during: Band['during'],
  colors: ChartColors,
): object {
  const look = {
    lineStyle: { color: colors.of(color), type, width: 1 },
    label: {
      formatter: words,
      color: colors.of(text),
      backgroundColor: colors.of('--surface'),
      padding: [2, 4],
      fontSize: 12,
      fontFamily: 'Inter Variable',
      position: 'insideStartTop',
    },
  }
  return during === null
    ? { yAxis: value, ...look }
    : [{ coord: [during.from, value], ...look }, { coord: [during.to, value] }]
}

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
 * The time around an alert: what was usual before it, and what came after it. Both ends are full buckets, so that a lasting alert is
 * refetched only when a new bucket begins.
 *
 * @param judgedMinutes time span of one judgement: shorter buckets would show noise
 */
export function chartWindow(since: number, ended: number | null, now: number, judgedMinutes: number): ChartWindow {
  const length = (ended ?? now) - since
  const finest = finestOf(judgedMinutes)
  // Not a whole day: within two days the axis shows times.
  const least = { '5m': 3 * HOUR, '1h': 18 * HOUR, '1d': 7 * DAY }[finest]
  const margin = Math.max(least, Math.min(DAY, length))
  const from = since - margin
  const to = ended === null ? now : Math.min(now, ended + margin)
  return windowOf(from, to, finest)
}

const LENGTHS = { '5m': 5 * MINUTE, '1h': HOUR, '1d': DAY } as const

const finestOf = (judgedMinutes: number): ChartWindow['bucket'] =>
  judgedMinutes < 60 ? '5m' : judgedMinutes * MINUTE < DAY ? '1h' : '1d'

/** Minimum number of buckets: fewer show no course. */
const LEAST_BUCKETS = 6

/**
 * A part of a chart's time, in buckets as fine as its length allows, but never shorter than one judgement's time span.
 *
 * @param part as dragged: it may reach beyond the chart or be too short to draw
 */
export function zoomedWindow(
  whole: ChartWindow,
  part: Pick<ChartWindow, 'from' | 'to'>,
  judgedMinutes: number,
): ChartWindow {
  const finest = finestOf(judgedMinutes)
  const least = LEAST_BUCKETS * LENGTHS[finest]
  const from = Math.max(whole.from, part.from)
  const to = Math.min(whole.to, part.to)
  const lacking = Math.max(0, least - (to - from)) / 2
  return windowOf(Math.max(whole.from, from - lacking), Math.min(whole.to, to + lacking), finest)
}

function windowOf(from: number, to: number, finest: ChartWindow['bucket']): ChartWindow {
  const length = to - from
  const bucket = finest === '5m' && length <= 1.2 * DAY ? '5m' : finest !== '1d' && length <= 15 * DAY ? '1h' : '1d'
  const step = Math.min(HOUR, LENGTHS[bucket])
  const bucketMinutes = LENGTHS[bucket] / MINUTE
  return { from: Math.floor(from / step) * step, to: Math.ceil(to / step) * step, bucket, bucketMinutes }
}
