import type { EChartsCoreOption } from 'echarts/core'
import type { ChartColors } from '../../ui/chart/colors.ts'
import { timeOption } from '../../ui/chart/time-option.ts'
import { tooltipBox } from '../../ui/chart/tooltip.ts'
import { cellColor, cellStyle, cellWords, type HeatCell, usualShares } from './heat.ts'
import type { Frame } from './site-scope.ts'

export interface HeatData {
  rows: readonly string[]
  cells: readonly HeatCell[]
  /** Width of a cell, ms. */
  width: number
  /** Height of a row, px; `above` is the part left free for its name. */
  row: { height: number; above: number }
  /** The tag or event that all rows are about. */
  of: string | undefined
  frame: Frame
}

/** px, as on the other charts except for the top, where the rows begin. */
const TOP = 2
const BOTTOM = 24
const GAP = 3

export const heatHeight = (rows: number, row: HeatData['row']): number => TOP + rows * row.height + BOTTOM

/** Chart option of a heat map of tag × time: the share of failed executions as colour, hatched where nothing ran. */
export function heatOption({ rows, cells, width, row, of, frame }: HeatData, colors: ChartColors): EChartsCoreOption {
  const base = timeOption({ ...frame, series: [], kind: 'lines' }, colors)
  const usual = usualShares(cells)
  return {
    ...base,
    grid: { ...(base.grid as object), top: TOP, bottom: BOTTOM, show: true, borderWidth: 0, ...hatch(colors) },
    yAxis: { type: 'value', min: 0, max: Math.max(1, rows.length), inverse: true, show: false },
    tooltip: {
      ...(base.tooltip as object),
      trigger: 'item',
      formatter: ({ dataIndex }: { dataIndex: number }) => {
        const cell = cells[dataIndex]
        if (cell === undefined) return ''
        const name = rows[cell.row] ?? ''
        const said = cellWords(cell, { name, of, width, usual: usual.get(cell.row), frame })
        const failed = { name: said.name, text: said.failed, color: cellColor(cell, width, frame, colors), value: 1 }
        const lines =
          said.usual === undefined ? [] : [{ name: 'usual', text: said.usual, color: 'transparent', value: 0 }]
        return tooltipBox(said.time, [failed, ...lines])
      },
    },
    series: [
      {
        type: 'custom',
        name: 'cells',
        clip: true,
        animation: false,
        data: cells.map(({ at, row }) => [at, row]),
        encode: { x: 0, y: 1 },
        renderItem: (params: RenderParams, api: RenderApi) => {
          const cell = cells[params.dataIndex]
          if (cell === undefined) return null
          const [left = 0, top = 0] = api.coord([cell.at, cell.row])
          const [right = 0] = api.coord([cell.at + width, cell.row])
          const start = Math.max(left, params.coordSys.x)
          const end = Math.min(right, params.coordSys.x + params.coordSys.width)
          return {
            type: 'rect',
            // Whole pixels, to avoid seams between cells.
            shape: {
              x: Math.round(start),
              y: Math.round(top) + row.above,
              width: Math.max(1, Math.round(end) - Math.round(start)),
              height: row.height - row.above - GAP,
            },
            style: cellStyle(cell, width, frame, colors),
          }
        },
      },
      ...gaps(rows.length, row, colors),
      // Draw alerts and deploys above the cells.
      ...(base.series as object[]).map((each) => ({ ...each, z: 5 })),
    ],
  }
}

interface RenderParams {
  dataIndex: number
  coordSys: { x: number; y: number; width: number; height: number }
}

interface RenderApi {
  coord: (point: [number, number]) => number[]
}

/** The gaps between rows, drawn above the hatch. */
function gaps(rows: number, row: HeatData['row'], colors: ChartColors): object[] {
  const ground = { type: 'rect', style: { fill: colors.of('--surface') } }
  const renderItem = ({ dataIndex, coordSys: { x, y, width } }: RenderParams) => {
    const top = y + dataIndex * row.height
    const below = { ...ground, shape: { x, y: top + row.height - GAP, width, height: GAP } }
    const above = { ...ground, shape: { x, y: top, width, height: row.above } }
    return { type: 'group', children: [below, above] }
  }
  const data = Array.from({ length: rows }, (_, index) => [index])
  return [
    {
      type: 'custom',
      name: 'gaps',
      silent: true,
      animation: false,
      tooltip: { show: false },
      encode: { y: 0 },
      data,
      renderItem,
    },
  ]
}

/** Marks that nothing ran, which is not the same as nothing failed. */
const hatch = (colors: ChartColors) => ({ backgroundColor: colors.hatch(colors.of('--surface'), colors.of('--line')) })
