import { UnstyledButton } from '@mantine/core'
import { ArrowDown, ArrowUp, ArrowUpDown } from 'lucide-react'
import { type Column, nextSort, type Sort } from './column.ts'
import classes from './DataTable.module.css'

interface Props<Row> {
  columns: readonly Column<Row>[]
  sort: Sort | undefined
  onSort: (sort: Sort) => void
}

export function Head<Row>({ columns, sort, onSort }: Props<Row>) {
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
