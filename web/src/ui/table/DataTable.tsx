import { useMemo, useState } from 'react'
import { Body } from './Body.tsx'
import { type Column, type Sort, sorted } from './column.ts'
import classes from './DataTable.module.css'
import { Head } from './Head.tsx'
import { useScrollsSideways } from './use-scrolls-sideways.ts'
import { useVirtualBody } from './use-virtual-body.ts'

export interface TableProps<Row> {
  /** What the table lists, for screen readers: "Probes of Feldkamp Outdoor". */
  label: string
  columns: readonly Column<Row>[]
  rows: readonly Row[]
  keyOf: (row: Row) => string
  /** The order at first; without it the rows stay as they are given. */
  initialSort?: Sort
  /** Makes rows open something, by click, Enter or Space. Arrow keys move between rows. */
  onOpen?: (row: Row) => void
}

/** More rows than this are drawn only where they are seen. */
const VIRTUAL_FROM = 100

/** A table with a head that stays, columns that sort, and rows that the keyboard reaches. */
export function DataTable<Row>({ label, columns, rows, keyOf, initialSort, onOpen }: TableProps<Row>) {
  const [sort, setSort] = useState<Sort | undefined>(initialSort)
  const ordered = useMemo(() => sorted(rows, columns, sort), [rows, columns, sort])
  const isVirtual = ordered.length > VIRTUAL_FROM
  const { scrollRef, window, measure } = useVirtualBody(ordered.length, isVirtual)
  const isWide = useScrollsSideways(scrollRef)
  return (
    // A region that scrolls has to be reachable by keyboard.
    <section
      ref={scrollRef}
      className={classes.scroll}
      data-virtual={isVirtual || undefined}
      aria-label={label}
      tabIndex={isVirtual || isWide ? 0 : undefined}
    >
      <table className={classes.table} aria-rowcount={ordered.length + 1}>
        <Head columns={columns} sort={sort} onSort={setSort} />
        <Body {...{ columns, keyOf, window, measure }} rows={ordered} {...(onOpen === undefined ? {} : { onOpen })} />
      </table>
    </section>
  )
}
