import { percent, whole } from '../../lib/words.ts'
import { bucketText } from '../../ui/chart/bucket-text.ts'
import type { ChartColors } from '../../ui/chart/colors.ts'
import { THIN_BASE } from '../../ui/chart/points.ts'
import { type HeatCell, heatLevel, mixed } from './heat.ts'
import type { Frame } from './site-scope.ts'

type Window = Pick<Frame, 'from' | 'to'>

const PALE = 0.45

const isCut = ({ at }: HeatCell, width: number, { from, to }: Window): boolean => at < from || at + width > to

const isThin = ({ executions }: HeatCell): boolean => executions < THIN_BASE

/** The share of failures as a colour; neutral for a time that is not over, until enough ran in it to judge. */
export function cellColor(cell: HeatCell, width: number, window: Window, colors: ChartColors): string {
  const isJudged = !(isThin(cell) && isCut(cell, width, window))
  return mixed(
    colors.of('--unknown-soft'),
    colors.of('--critical'),
    isJudged ? heatLevel(cell.bad / cell.executions) : 0,
  )
}

/** Hatched while its time is not over, pale where few ran: too little for a strong colour. */
export function cellStyle(
  cell: HeatCell,
  width: number,
  window: Window,
  colors: ChartColors,
): { fill: object | string; opacity: number } {
  const color = cellColor(cell, width, window, colors)
  return {
    // Its own colour is the ground: on the surface it would look like a time in which nothing ran.
    fill: isCut(cell, width, window) ? colors.hatch(color, colors.of('--surface')) : color,
    opacity: isThin(cell) ? PALE : 1,
  }
}

interface CellContext {
  name: string
  /** The tag or event that all rows are about. */
  of: string | undefined
  width: number
  /** Of the row. */
  usual: number | undefined
  frame: Pick<Frame, 'from' | 'to' | 'zone'>
}

export interface CellWords {
  name: string
  time: string
  failed: string
  usual: string | undefined
}

/** "Meta CAPI · purchase", "15:30–15:45, 21 Nov 2026, CET", "42 of 62 failed (68 %)", "0.6 %". */
export function cellWords(cell: HeatCell, { name, of, width, usual, frame }: CellContext): CellWords {
  const { at, executions, bad } = cell
  return {
    name: of === undefined ? name : `${of} · ${name}`,
    time: bucketText({ start: at, end: at + width, isPartial: isCut(cell, width, frame) }, frame.zone),
    failed: `${whole(bad)} of ${whole(executions)} failed (${percent(bad / executions)})`,
    usual: usual === undefined ? undefined : percent(usual),
  }
}
