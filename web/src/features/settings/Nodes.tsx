import { Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type NodeRecord, nodesQuery } from '../../api/settings.ts'
import { ErrorState } from '../../ui/ErrorState.tsx'
import { RelativeTime } from '../../ui/RelativeTime.tsx'
import { StatusBadge } from '../../ui/status/StatusBadge.tsx'
import type { Column } from '../../ui/table/column.ts'
import { DataTable } from '../../ui/table/DataTable.tsx'
import { Card } from './Card.tsx'

const ROLES: Readonly<Record<string, string>> = {
  all: 'everything',
  ingest: 'takes what tags send',
  worker: 'everything but what tags send',
}

const COLUMNS: Column<NodeRecord>[] = [
  {
    key: 'state',
    title: 'State',
    width: '7rem',
    render: ({ is_alive }) => (
      <StatusBadge status={is_alive ? 'ok' : 'critical'}>{is_alive ? 'alive' : 'gone'}</StatusBadge>
    ),
  },
  { key: 'name', title: 'Node', sortBy: ({ name }) => name, render: ({ name }) => <code>{name}</code> },
  { key: 'role', title: 'Does', width: '14rem', render: ({ role }) => ROLES[role] ?? role },
  { key: 'version', title: 'Version', width: '6rem', render: ({ version }) => version },
  {
    key: 'started',
    title: 'Started',
    width: '8rem',
    sortBy: ({ started_at }) => Date.parse(started_at),
    render: ({ started_at }) => <RelativeTime at={started_at} />,
  },
  {
    key: 'seen',
    title: 'Last seen',
    width: '8rem',
    render: ({ last_seen_at }) => <RelativeTime at={last_seen_at} />,
  },
]

/** The processes that share the database. */
export function Nodes() {
  const { data, error, refetch } = useQuery(nodesQuery)
  return (
    <Card title="Nodes" about="The processes on this database, and those that died within the last day.">
      {data !== undefined ? (
        <DataTable label="Processes on this database" columns={COLUMNS} rows={data} keyOf={({ id }) => id} />
      ) : error !== null ? (
        <ErrorState error={error} onRetry={() => void refetch()} />
      ) : (
        <Skeleton height={80} radius="md" aria-busy="true" />
      )}
    </Card>
  )
}
