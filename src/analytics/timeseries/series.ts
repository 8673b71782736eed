import { bucketIndex } from '../buckets.ts'
import { addSums, type Sums, zeroSums } from '../sums.ts'

export interface Point {
  /** Start of the bucket, epoch ms. */
  t: number
  value: number | null
  /** What a rate or a percentile is taken of: events or executions. A reader judges none by few of them. */
  base?: number
}

export interface Series {
  key: string
  points: Point[]
}

/** Sums of a key per bucket; undefined where there are none. */
export type Cells<C extends string> = (Sums<C> | undefined)[]

/** Rows added up by key and bucket. Keys that `always` are there have cells even without rows. */
export function cellsBy<C extends string, R extends Sums<C> & { at: number }>(
  rows: readonly R[],
  starts: readonly number[],
  columns: readonly C[],
  keyOf: (row: R) => string,
): Map<string, Cells<C>> {
  const byKey = new Map<string, Cells<C>>()
  for (const row of rows) {
    const key = keyOf(row)
    const cells = byKey.get(key) ?? []
    byKey.set(key, cells)
    const index = bucketIndex(starts, row.at)
    const sums = cells[index] ?? zeroSums(columns)
    addSums(sums, row, columns)
    cells[index] = sums
  }
  return byKey
}

/** A point for every bucket, also where nothing was counted. */
export function seriesOf<C extends string>(
  key: string,
  starts: readonly number[],
  cells: Cells<C>,
  columns: readonly C[],
  value: (sums: Sums<C>) => number | null,
  base?: (sums: Sums<C>) => number,
): Series {
  const none = zeroSums(columns)
  return {
    key,
    points: starts.map((t, index) => {
      const sums = cells[index] ?? none
      return { t, value: value(sums), ...(base !== undefined && { base: base(sums) }) }
    }),
  }
}

/** The series with the largest sum first, as a legend lists them. */
export function largestFirst(series: readonly Series[]): Series[] {
  const sums = new Map(series.map((one) => [one, one.points.reduce((sum, point) => sum + (point.value ?? 0), 0)]))
  return series.toSorted((a, b) => (sums.get(b) ?? 0) - (sums.get(a) ?? 0) || (a.key < b.key ? -1 : 1))
}
