import { UnstyledButton } from '@mantine/core'
import { useVirtualizer } from '@tanstack/react-virtual'
import { ArrowDown, ArrowUp, ArrowUpDown } from 'lucide-react'
import { type KeyboardEvent, type RefObject, useEffect, useMemo, useRef, useState } from 'react'
import { type Column, nextSort, type Sort, sorted } from './column.ts'
import classes from './DataTable.module.css'

interface TableProps<Row> {
  /** What the table lists, for screen readers: "Probes of Feldkamp Outdoor". */
  label: string
  columns: readonly Column<Row>[]
  rows: readonly Row[]
  keyOf: (row: Row) => string
  /** The initial order; without it rows stay as given. */
  initialSort?: Sort
  /** Makes rows open something, by click, Enter or Space. Arrow keys move between rows. */
  onOpen?: (row: Row) => void
}

/** Number of rows above which only visible ones are rendered. */
const VIRTUAL_FROM = 100

/** A table with a sticky header, sortable columns, and rows reachable by keyboard. */
export function DataTable<Row>({ label, columns, rows, keyOf, initialSort, onOpen }: TableProps<Row>) {
  const [sort, setSort] = useState<Sort | undefined>(initialSort)
  const ordered = useMemo(() => sorted(rows, columns, sort), [rows, columns, sort])
  const isVirtual = ordered.length > VIRTUAL_FROM
  const { scrollRef, window, measure } = useVirtualBody(ordered.length, isVirtual)
  const isWide = useScrollsSideways(scrollRef)
  return (
    // A scrolling region must be reachable by keyboard.
    <section
      ref={scrollRef}
      className={classes.scroll}
      data-virtual={isVirtual || undefined}
      data-wide={isWide || undefined}
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

interface HeadProps<Row> {
  columns: readonly Column<Row>[]
  sort: Sort | undefined
  onSort: (sort: Sort) => void
}

function Head<Row>({ columns, sort, onSort }: HeadProps<Row>) {
  return (
    <thead className={classes.head}>
      <tr aria-rowindex={1}>
        {columns.map((column) => {
          const order = sort?.key === column.key ? (sort.isDescending ? 'descending' : 'ascending') : undefined
          return (
            <th
              key={column.key}
              scope="col"
              aria-sort={order}
              data-number={column.isNumber}
              style={column.width === undefined ? undefined : { width: column.width }}
            >
              {column.sortBy === undefined ? (
                column.title
              ) : (
                <UnstyledButton className={classes.sort} onClick={() => onSort(nextSort(column, sort))}>
                  {column.title}
                  <SortIcon order={order} />
                </UnstyledButton>
              )}
            </th>
          )
        })}
      </tr>
    </thead>
  )
}

function SortIcon({ order }: { order: 'ascending' | 'descending' | undefined }) {
  const Icon = order === undefined ? ArrowUpDown : order === 'ascending' ? ArrowUp : ArrowDown
  return <Icon size={12} aria-hidden className={classes.sortIcon} data-active={order !== undefined || undefined} />
}

interface BodyProps<Row> {
  columns: readonly Column<Row>[]
  rows: readonly Row[]
  keyOf: (row: Row) => string
  onOpen?: (row: Row) => void
  window: Window
  /** Undefined when all rows are rendered, because measuring forces a layout for each. */
  measure: ((element: HTMLTableRowElement | null) => void) | undefined
}

function Body<Row>({ columns, rows, keyOf, onOpen, window, measure }: BodyProps<Row>) {
  const { first, last, before, after } = window
  return (
    <tbody>
      <Spacer height={before} columns={columns.length} />
      {rows.slice(first, last).map((row, n) => (
        <tr
          key={keyOf(row)}
          ref={measure}
          data-index={first + n}
          aria-rowindex={first + n + 2}
          className={classes.row}
          {...(onOpen === undefined ? {} : opening(() => onOpen(row)))}
        >
          {columns.map((column) => (
            <td key={column.key} data-number={column.isNumber}>
              {column.render(row)}
            </td>
          ))}
        </tr>
      ))}
      <Spacer height={after} columns={columns.length} />
    </tbody>
  )
}

/** Takes the height of rows that are not rendered. */
function Spacer({ height, columns }: { height: number; columns: number }) {
  if (height === 0) return null
  return (
    <tr aria-hidden>
      <td colSpan={columns} style={{ height, padding: 0, border: 0 }} />
    </tr>
  )
}

const opening = (open: () => void) => ({
  tabIndex: 0,
  'data-opens': true,
  onClick: open,
  onKeyDown: (event: KeyboardEvent<HTMLTableRowElement>) => {
    // A button or link in the row handles its own keys.
    if (event.target !== event.currentTarget) return
    if (event.key === 'Enter' || event.key === ' ') open()
    else if (event.key === 'ArrowDown') focusRow(event.currentTarget.nextElementSibling)
    else if (event.key === 'ArrowUp') focusRow(event.currentTarget.previousElementSibling)
    else return
    event.preventDefault()
  },
})

const focusRow = (row: Element | null): void => {
  if (row instanceof HTMLElement && row.tabIndex === 0) row.focus()
}

/** The rendered rows, and the height of the others before and after them, px. */
interface Window {
  first: number
  last: number
  before: number
  after: number
}

/** Estimated height of a row until it is measured, px. */
const ROW = 36
const HEAD = 36

function useVirtualBody(
  count: number,
  isVirtual: boolean,
): {
  scrollRef: RefObject<HTMLElement | null>
  window: Window
  measure: ((element: HTMLTableRowElement | null) => void) | undefined
} {
  const scrollRef = useRef<HTMLElement>(null)
  const virtualizer = useVirtualizer<HTMLElement, HTMLTableRowElement>({
    count,
    enabled: isVirtual,
    getScrollElement: () => scrollRef.current,
    estimateSize: () => ROW,
    overscan: 12,
    // The sticky header covers the first rows.
    scrollPaddingStart: HEAD,
  })
  const items = virtualizer.getVirtualItems()
  const [top, bottom] = [items[0], items.at(-1)]
  const whole = { first: 0, last: count, before: 0, after: 0 }
  const seen =
    top === undefined || bottom === undefined
      ? { first: 0, last: 0, before: 0, after: virtualizer.getTotalSize() }
      : {
          first: top.index,
          last: bottom.index + 1,
          before: top.start,
          after: virtualizer.getTotalSize() - bottom.end,
        }
  return { scrollRef, window: isVirtual ? seen : whole, measure: isVirtual ? virtualizer.measureElement : undefined }
}

/** Whether the element's content is wider than it is: then it scrolls, and has to be reachable by keyboard. */
function useScrollsSideways(ref: RefObject<HTMLElement | null>): boolean {
  const [scrolls, setScrolls] = useState(false)
  useEffect(() => {
    const element = ref.current
    if (element === null) return undefined
    const observer = new ResizeObserver(() => setScrolls(element.scrollWidth > element.clientWidth))
    observer.observe(element)
    for (const child of element.children) observer.observe(child)
    return () => observer.disconnect()
  }, [ref])
  return scrolls
}
