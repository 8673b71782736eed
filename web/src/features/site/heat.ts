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
  /** The share in the compared window. */
  before?: number | null | undefined
}

/** Steepness of the colour scale at its start, so that 1 % is visible beside 50 %. */
const STEEPNESS = 100

/**
 * Maps a bad share of 0–1 to a level from neutral (0) to red (1). Log-like: 0.1 % is 0.02, 1 % is 0.15, 10 % is 0.52.
 */
export function heatLevel(share: number): number {
  return Math.log1p(STEEPNESS * Math.min(1, Math.max(0, share))) / Math.log1p(STEEPNESS)
}

/** Mixes two colours of the form `#rrggbb`; `level` 0 is the first. */
export function mixed(from: string, to: string, level: number): string {
  const [a, b] = [channels(from), channels(to)]
  const parts = a.map((channel, index) => Math.round(channel + ((b[index] ?? channel) - channel) * level))
  return `rgb(${parts.join(',')})`
}

const channels = (hex: string): number[] =>
  (/^#(..)(..)(..)$/.exec(hex)?.slice(1) ?? ['0', '0', '0']).map((channel) => Number.parseInt(channel, 16))

/** The share of a part; null when nothing ran, which is not a share of zero. */
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

/** The cells of a heat map; a row has none for a time without executions. */
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

/** Executions that a cell needs to count for the usual share, and the number of such cells needed. */
const USUAL_EXECUTIONS = 20
const USUAL_CELLS = 5

/** The usual share of failed executions by row: the median of its cells with enough executions. */
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

/** Limit for the keys in an address: Node accepts 16 kB of headers including it, proxies less. */
const KEYS_MAX_LENGTH = 3_000

/**
 * Limits a query to the shown rows, such as 12 of 60 tags. Sorted, so that another order of rows is the same query. Names too long for
 * an address are not sent, and then all rows are returned.
 */
export function keysOf(names: readonly string[]): { keys?: string[] } {
  const keys = names.toSorted()
  return encodeURIComponent(keys.join()).length > KEYS_MAX_LENGTH ? {} : { keys }
}

/** As charts, matrix and probes count: a batch may give more executions than outcomes, and how the others ended is not known. */
export const badOf = ({ failure, timeout, exception }: Pick<TagReport, 'failure' | 'timeout' | 'exception'>): number =>
  failure + timeout + exception

/** Of all tags together; null when none ran. */
export const failureRate = (tags: readonly TagReport[]): number | null =>
  shareOf(
    tags.reduce((sum, tag) => sum + badOf(tag), 0),
    tags.reduce((sum, tag) => sum + tag.executions, 0),
  )

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

/** The rows of the matrix for one event or one tag. */
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

/** The colour of a cell's share of failures; neutral for a time that is not over until enough ran in it. */
export function cellColor(cell: HeatCell, width: number, window: Window, colors: ChartColors): string {
  const isJudged = !(isThin(cell) && isCut(cell, width, window))
  return mixed(
    colors.of('--unknown-soft'),
    colors.of('--critical'),
    isJudged ? heatLevel(cell.bad / cell.executions) : 0,
  )
}

/** The style of a cell: hatched while its time is not over, pale with few executions. */
export function cellStyle(
  cell: HeatCell,
  width: number,
  window: Window,
  colors: ChartColors,
): { fill: object | string; opacity: number } {
  const color = cellColor(cell, width, window, colors)
  return {
    // Hatch with its own colour as background: on the surface colour it would look as if nothing ran.
    fill: isCut(cell, width, window) ? colors.hatch(color, colors.of('--surface')) : color,
    opacity: isThin(cell) ? PALE : 1,
  }
}

interface CellContext {
  name: string
  /** The tag or event that all rows are about. */
  of: string | undefined
  width: number
  /** The row's usual share. */
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
