import { useMemo } from 'react'
import { whole } from '../../lib/words.ts'
import { StatusBadge } from '../../ui/status/StatusBadge.tsx'
import { STATUSES } from '../../ui/status/status.ts'
import type { Column } from '../../ui/table/column.ts'
import { DataTable } from '../../ui/table/DataTable.tsx'

interface Row {
  name: string
  status: (typeof STATUSES)[number]
  count: number | null
}

const COLUMNS: readonly Column<Row>[] = [
  { key: 'name', title: 'Name', sortBy: (row) => row.name, render: (row) => row.name },
  { key: 'status', title: 'Status', width: '10rem', render: (row) => <StatusBadge status={row.status} /> },
  {
    key: 'count',
    title: 'Executions',
    isNumber: true,
    width: '8rem',
    sortBy: (row) => row.count,
    render: (row) => (row.count === null ? '–' : whole(row.count)),
  },
]

const keyOf = (row: Row): string => row.name

interface Props {
  label: string
  count: number
  onOpen: (name: string) => void
}

export function KitTable({ label, count, onOpen }: Props) {
  const rows = useMemo(
    () =>
      Array.from({ length: count }, (_, n) => ({
        name: `Tag ${n + 1}`,
        status: STATUSES[n % STATUSES.length] ?? 'ok',
        count: n % 5 === 3 ? null : (n * 7_919) % 10_007,
      })),
    [count],
  )
  return <DataTable label={label} columns={COLUMNS} rows={rows} keyOf={keyOf} onOpen={(row) => onOpen(row.name)} />
}
