/** Counters by name. */
export type Sums<C extends string> = Record<C, number>

export const zeroSums = <C extends string>(columns: readonly C[]): Sums<C> =>
  Object.fromEntries(columns.map((column) => [column, 0])) as Sums<C>

export function addSums<C extends string>(target: Sums<C>, row: Sums<C>, columns: readonly C[]): void {
  for (const column of columns) target[column] += row[column]
}

/** Rows added up by key, in order of first appearance. */
export function sumBy<C extends string, R extends Sums<C>>(
  rows: readonly R[],
  columns: readonly C[],
  keyOf: (row: R) => string,
): Map<string, Sums<C>> {
  const sums = new Map<string, Sums<C>>()
  for (const row of rows) {
    const key = keyOf(row)
    const known = sums.get(key) ?? zeroSums(columns)
    addSums(known, row, columns)
    sums.set(key, known)
  }
  return sums
}

/** Largest first; equals by text, so that an answer does not depend on the order of rows. */
export const byCountThenKey =
  <T>(count: (item: T) => number, key: (item: T) => string) =>
  (a: T, b: T): number =>
    count(b) - count(a) || (key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : 0)
