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
