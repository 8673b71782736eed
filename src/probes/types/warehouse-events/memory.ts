/** What a probe remembers of its dataset. */
export interface Memory {
  /** Rows of tables that do not change any more, by day (`20261119`). */
  rows: Readonly<Record<string, number>>
  /** Rows in the warehouse for one event counted here, by day. */
  ratios: Readonly<Record<string, number>>
  /** The events of one state of one table: counting them costs money. */
  counted: Counted | null
  /** The last day that had an intraday table. */
  lastIntraday: string | null
}

export interface Counted {
  table: string
  /** When the table was last changed, epoch ms. */
  modifiedAt: number
  bytes: number
  counts: Readonly<Record<string, number>>
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const numbersOf = (value: unknown): Record<string, number> =>
  isRecord(value)
    ? Object.fromEntries(Object.entries(value).flatMap(([key, n]) => (typeof n === 'number' ? [[key, n]] : [])))
    : {}

/** As it was left by whatever version of the program: what cannot be used is forgotten. */
export function readMemory(memory: Readonly<Record<string, unknown>>): Memory {
  const { rows, ratios, counted, lastIntraday } = memory
  return {
    rows: numbersOf(rows),
    ratios: numbersOf(ratios),
    counted: isRecord(counted) ? readCounted(counted) : null,
    lastIntraday: typeof lastIntraday === 'string' ? lastIntraday : null,
  }
}

function readCounted({ table, modifiedAt, bytes, counts }: Record<string, unknown>): Counted | null {
  if (typeof table !== 'string' || typeof modifiedAt !== 'number' || typeof bytes !== 'number') return null
  return { table, modifiedAt, bytes, counts: numbersOf(counts) }
}

const KEPT_DAYS = 40

/** Without the days that no comparison reaches back to. */
export const latestDays = (rows: Readonly<Record<string, number>>): Record<string, number> =>
  Object.fromEntries(
    Object.entries(rows)
      .sort(([a], [b]) => a.localeCompare(b))
      .slice(-KEPT_DAYS),
  )
