import type { EChartsCoreOption } from 'echarts/core'
import { percent, whole } from '../../lib/words.ts'
import { bucketText } from '../../ui/chart/bucket-text.ts'
import type { ChartColors } from '../../ui/chart/colors.ts'
import { hatchOf } from '../../ui/chart/hatch.ts'
import { THIN_BASE } from '../../ui/chart/points.ts'
import { timeOption } from '../../ui/chart/time-option.ts'
import { tooltipBox } from '../../ui/chart/tooltip.ts'
import { type HeatCell, heatLevel, mixed, usualShares } from './heat.ts'
import type { Frame } from './site-scope.ts'

export interface HeatData {
  rows: readonly string[]
  cells: readonly HeatCell[]
  /** Of a cell, ms. */
  width: number
  /** Of a row, px. `above` is the part of it that is kept free for its name. */
  row: { height: number; above: number }
  /** The tag or event that all rows are about. */
  of: string | undefined
  frame: Frame
}

/** px: as on the other charts, but for the top, where the rows begin. */
const TOP = 2
const BOTTOM = 24
const GAP = 3

export const heatHeight = (rows: number, row: HeatData['row']): number => TOP + rows * row.height + BOTTOM

/** Tag × time: the share of executions that ended badly as a colour, a hatch where nothing ran. */
export function heatOption({ rows, cells, width, row, of, frame }: HeatData, colors: ChartColors): EChartsCoreOption {
  const base = timeOption({ ...frame, series: [], kind: 'lines' }, colors)
  const neutral = colors.of('--unknown-soft')
  const critical = colors.of('--critical')
  const fillOf = (cell: HeatCell) => mixed(neutral, critical, heatLevel(cell.bad / cell.executions))
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
        return cell === undefined
          ? ''
          : cellTooltip(cell, {
              name: rows[cell.row] ?? '',
              of,
              width,
              color: fillOf(cell),
              usual: usual.get(cell.row),
              frame,
            })
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
            // Whole pixels: otherwise a seam shows between cells.
            shape: {
              x: Math.round(start),
              y: Math.round(top) + row.above,
              width: Math.max(1, Math.round(end) - Math.round(start)),
              height: row.height - row.above - GAP,
            },
            style: { fill: fillOf(cell), opacity: isUncertain(cell, width, frame) ? PALE : 1 },
          }
        },
      },
      ...gaps(rows.length, row, colors),
      // The alerts and deployments, over the cells.
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

/** The ground between the rows, over the hatch. */
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

interface CellWords {
  name: string
  of: string | undefined
  width: number
  color: string
  usual: number | undefined
  frame: Frame
}

/** "Meta CAPI · purchase", "15:30–15:45, 21 Nov 2026, CET", "42 of 62 failed (68 %)", "usual 0.6 %". */
function cellTooltip(cell: HeatCell, { name, of, width, color, usual, frame }: CellWords): HTMLElement {
  const { at, executions, bad } = cell
  const time = bucketText({ start: at, end: at + width, isPartial: isCut(cell, width, frame) }, frame.zone)
  const share = bad / executions
  const failed = `${whole(bad)} of ${whole(executions)} failed (${percent(share)})`
  const lines = [{ name: of === undefined ? name : `${of} · ${name}`, color, text: failed, value: 1 }]
  if (usual !== undefined) lines.push({ name: 'usual', color: 'transparent', text: percent(usual), value: 0 })
  return tooltipBox(time, lines)
}

const PALE = 0.45

const isCut = ({ at }: HeatCell, width: number, { from, to }: Frame): boolean => at < from || at + width > to

/** Few executions, or a time that is not over: too little for a strong colour. */
const isUncertain = (cell: HeatCell, width: number, frame: Frame): boolean =>
  cell.executions < THIN_BASE || isCut(cell, width, frame)

/** "Nothing ran" is something else than "nothing failed". */
const hatch = (colors: ChartColors) => ({ backgroundColor: hatchOf(colors.of('--surface'), colors.of('--line')) })
