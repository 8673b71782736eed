import type { MatrixAnswer, TagReport } from '../../api/analytics.ts'
import { percent, whole } from '../../lib/words.ts'
import { bucketText } from '../../ui/chart/bucket-text.ts'
import type { ChartColors } from '../../ui/chart/colors.ts'
import { THIN_BASE } from '../../ui/chart/points.ts'
import type { Frame } from './site-scope.ts'

export interface HeatRow {
  name: string
  executions: number
  bad: number
  /** Share of before, when it is compared with. */
  before?: number | null | undefined
}

/** How steep the scale is at its start: a fault in a hundred is seen beside one in two. */
const STEEPNESS = 100

/**
 * Where a bad share of 0–1 stands on the way from neutral (0) to red (1). Log-like: 0.1 % is 0.02, 1 % is 0.15, 10 % is 0.52.
 */
export function heatLevel(share: number): number {
  return Math.log1p(STEEPNESS * Math.min(1, Math.max(0, share))) / Math.log1p(STEEPNESS)
}

/** A colour between two of the form `#rrggbb`; `level` 0 is the first. */
export function mixed(from: string, to: string, level: number): string {
  const [a, b] = [channels(from), channels(to)]
  const parts = a.map((channel, index) => Math.round(channel + ((b[index] ?? channel) - channel) * level))
  return `rgb(${parts.join(',')})`
}

const channels = (hex: string): number[] =>
  (/^#(..)(..)(..)$/.exec(hex)?.slice(1) ?? ['0', '0', '0']).map((channel) => Number.parseInt(channel, 16))

/** Null where nothing ran: that is no share of zero. */
export const shareOf = (part: number, whole: number): number | null => (whole > 0 ? part / whole : null)

export interface HeatCell {
  /** epoch ms */
  at: number
  row: number
  executions: number
  bad: number
}

/** Counts by time. */
interface Counts {
  key: string
  points: readonly { t: string; value: number | null }[]
}

/** The cells of a heat map; a time in which a row has no executions gets none. */
export function heatCells(
  rows: readonly string[],
  executions: readonly Counts[],
  failures: readonly Counts[],
): HeatCell[] {
  const badOf = new Map(
    failures.map(({ key, points }) => [key, new Map(points.map(({ t, value }) => [t, value ?? 0]))]),
  )
  const pointsOf = new Map(executions.map(({ key, points }) => [key, points]))
  return rows.flatMap((key, row) =>
    (pointsOf.get(key) ?? []).flatMap(({ t, value }) =>
      value === null || value === 0
        ? []
        : [{ at: Date.parse(t), row, executions: value, bad: badOf.get(key)?.get(t) ?? 0 }],
    ),
  )
}

/** Executions from which a cell's share counts for what is usual, and how many such cells it takes. */
const USUAL_EXECUTIONS = 20
const USUAL_CELLS = 5

/** The median share of failed executions of each row over its cells with enough of them, by row. */
export function usualShares(cells: readonly HeatCell[]): Map<number, number> {
  const shares = new Map<number, number[]>()
  for (const { row, executions, bad } of cells) {
    if (executions < USUAL_EXECUTIONS) continue
    const ofRow = shares.get(row) ?? []
    ofRow.push(bad / executions)
    shares.set(row, ofRow)
  }
  const usual = new Map<number, number>()
  for (const [row, ofRow] of shares) {
    const middle = ofRow.toSorted((a, b) => a - b)[Math.floor(ofRow.length / 2)]
    if (ofRow.length >= USUAL_CELLS && middle !== undefined) usual.set(row, middle)
  }
  return usual
}

/** An address may be as long as a header: 16 kB together, proxies take less. */
const KEYS_MAX_LENGTH = 3_000

/**
 * Asks for the rows that are shown and no others: of 60 tags, 12. Always in one order, as another order of the rows is no other
 * question; names too long for an address are not sent, and all rows come.
 */
export function keysOf(names: readonly string[]): { keys?: string[] } {
  const keys = names.toSorted()
  return encodeURIComponent(keys.join()).length > KEYS_MAX_LENGTH ? {} : { keys }
}

export const badOf = ({ executions, success }: Pick<TagReport, 'executions' | 'success'>): number =>
  executions - success

const collator = new Intl.Collator('en', { numeric: true, sensitivity: 'base' })

/** The rows of the heat map, the largest share of failures first. */
export function heatRows(tags: readonly TagReport[], before?: readonly TagReport[]): HeatRow[] {
  const earlier = new Map(before?.map((tag) => [tag.tag_key, tag]))
  return worstFirst(
    tags.map((tag) => {
      const was = earlier.get(tag.tag_key)
      return {
        name: tag.tag_key,
        executions: tag.executions,
        bad: badOf(tag),
        before: before === undefined ? undefined : was === undefined ? null : shareOf(badOf(was), was.executions),
      }
    }),
  )
}

/** The part of the matrix that is about one event, or about one tag. */
export function matrixRows(
  { cells }: Pick<MatrixAnswer, 'cells'>,
  of: { event_name: string } | { tag_key: string },
): HeatRow[] {
  const rows = cells.flatMap(({ event_name, tag_key, executions, bad }) => {
    if ('event_name' in of) return event_name === of.event_name ? [{ name: tag_key, executions, bad }] : []
    return tag_key === of.tag_key ? [{ name: event_name, executions, bad }] : []
  })
  return worstFirst(rows)
}

const worstFirst = (rows: readonly HeatRow[]): HeatRow[] =>
  rows.toSorted(
    (a, b) =>
      (shareOf(b.bad, b.executions) ?? 0) - (shareOf(a.bad, a.executions) ?? 0) || collator.compare(a.name, b.name),
  )

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

interface CellWords {
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
