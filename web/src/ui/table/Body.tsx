import type { KeyboardEvent } from 'react'
import type { Column } from './column.ts'
import classes from './DataTable.module.css'
import type { Window } from './use-virtual-body.ts'

interface Props<Row> {
  columns: readonly Column<Row>[]
  rows: readonly Row[]
  keyOf: (row: Row) => string
  onOpen?: (row: Row) => void
  window: Window
  measure: (element: HTMLTableRowElement | null) => void
}

export function Body<Row>({ columns, rows, keyOf, onOpen, window, measure }: Props<Row>) {
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

/** Holds the place of rows that are not drawn. */
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
    // A button or a link in the row has keys of its own.
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
