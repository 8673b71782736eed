import type { ReactNode } from 'react'

export interface Column<Row> {
  key: string
  title: string
  /** Whether the column has numbers, which are right-aligned. */
  isNumber?: boolean
  /** CSS width; the others share what is left. */
  width?: string
  /** The value to sort by; without it the column is not sortable. Null comes last in either direction. */
  sortBy?: (row: Row) => string | number | null
  render: (row: Row) => ReactNode
}

export interface Sort {
  key: string
  isDescending: boolean
}

const collator = new Intl.Collator('en', { numeric: true, sensitivity: 'base' })

export function sorted<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  sort: Sort | undefined,
): readonly Row[] {
  const sortBy = columns.find((column) => column.key === sort?.key)?.sortBy
  if (sort === undefined || sortBy === undefined) return rows
  const direction = sort.isDescending ? -1 : 1
  return rows.toSorted((a, b) => compare(sortBy(a), sortBy(b), direction))
}

function compare(a: string | number | null, b: string | number | null, direction: number): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null)
  const order = typeof a === 'number' && typeof b === 'number' ? a - b : collator.compare(String(a), String(b))
  return order * direction
}

/** The order after a click on a column's header: numbers begin with the largest, texts with A. */
export function nextSort<Row>(column: Column<Row>, now: Sort | undefined): Sort {
  if (now?.key === column.key) return { key: column.key, isDescending: !now.isDescending }
  return { key: column.key, isDescending: column.isNumber === true }
}
