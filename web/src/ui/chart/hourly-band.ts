import type { EChartsCoreOption } from 'echarts/core'
import type { ChartColors } from './colors.ts'

/** The counts that pass in an hour. Null when nothing is known, or without such a bound. */
export interface BandHour {
  /** ISO start of the hour. */
  t: string
  expected: number | null
  low: number | null
  high: number | null
}

const HOUR = 3_600_000

/** Adds the band of each hour to an hourly chart, as a green area with its bounds. */
export function withHourlyBand(
  option: EChartsCoreOption,
  hours: readonly BandHour[],
  colors: ChartColors,
): EChartsCoreOption {
  const series = Array.isArray(option.series) ? (option.series as object[]) : []
  return { ...option, series: [hourlyBand(hours, colors), ...series] }
}

interface RenderParams {
  dataIndex: number
  coordSys: { x: number; y: number; width: number; height: number }
}

interface RenderApi {
  coord: (point: [number, number]) => number[]
}

function hourlyBand(hours: readonly BandHour[], colors: ChartColors): object {
  const known = hours.filter(({ expected }) => expected !== null)
  return {
    type: 'custom',
    name: 'band',
    silent: true,
    animation: false,
    clip: true,
    tooltip: { show: false },
    // Only the expected counts size the axis. The band of a quiet site reaches many times higher and would flatten the bars.
    encode: { x: 0, y: 1 },
    data: known.map(({ t, expected }) => [Date.parse(t), expected]),
    renderItem: ({ dataIndex, coordSys }: RenderParams, api: RenderApi) => {
      const hour = known[dataIndex]
      return hour === undefined ? null : { type: 'group', children: shapesOf(hour, coordSys, api, colors) }
    },
  }
}

/** The shapes of an hour: the area between its bounds, and a line on each. */
function shapesOf(
  { t, low, high }: BandHour,
  { x, y, width, height }: RenderParams['coordSys'],
  api: RenderApi,
  colors: ChartColors,
): object[] {
  const start = Date.parse(t)
  const pixel = (at: number, value: number): [number, number] => {
    const [left = 0, top = 0] = api.coord([at, value])
    return [Math.min(x + width, Math.max(x, left)), Math.min(y + height, Math.max(y, top))]
  }
  const [left, bottom] = pixel(start, low ?? 0)
  const [right] = pixel(start + HOUR, 0)
  const top = high === null ? y : pixel(start, high)[1]
  const bound = (at: number) => ({
    type: 'line',
    shape: { x1: left, y1: at, x2: right, y2: at },
    style: { stroke: colors.of('--ok'), lineWidth: 1 },
  })
  return [
    {
      type: 'rect',
      // Whole pixels, to avoid seams between hours.
      shape: {
        x: Math.round(left),
        y: top,
        width: Math.round(right) - Math.round(left),
        height: Math.max(0, bottom - top),
      },
      style: { fill: colors.soft('--ok', 0.1) },
    },
    ...(low !== null && low > 0 ? [bound(bottom)] : []),
    ...(high !== null && top > y ? [bound(top)] : []),
  ]
}
