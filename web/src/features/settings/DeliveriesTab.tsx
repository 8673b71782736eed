import { Button, Group, SegmentedControl, Select, Skeleton, Stack } from '@mantine/core'
import { useInfiniteQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { MailCheck } from 'lucide-react'
import { useMemo } from 'react'
import { type DeliveryRecord, deliveriesQuery } from '../../api/deliveries.ts'
import { useSession } from '../../api/session.ts'
import { useDirectory } from '../../lib/use-directory.ts'
import { useUrlState } from '../../lib/use-url-state.ts'
import { clearButton } from '../../ui/clear-button.ts'
import { EmptyState } from '../../ui/EmptyState.tsx'
import { ErrorState } from '../../ui/ErrorState.tsx'
import { DataTable } from '../../ui/table/DataTable.tsx'
import { deliveryColumns } from './delivery-columns.tsx'
import classes from './settings.module.css'

const STATES = ['all', 'pending', 'delivered', 'failed', 'cancelled'] as const
type State = (typeof STATES)[number]
const LABELS: { value: State; label: string }[] = [
  { value: 'all', label: 'All' },
  { value: 'pending', label: 'Waiting' },
  { value: 'delivered', label: 'Delivered' },
  { value: 'failed', label: 'Failed' },
  { value: 'cancelled', label: 'Cancelled' },
]

/** What was sent, what was not, and why. */
export function DeliveriesTab() {
  const [state, setState] = useUrlState<State>('state', 'all', STATES)
  const [client, setClient] = useUrlState('client', '')
  const { clients } = useDirectory()
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = useInfiniteQuery({
    ...deliveriesQuery({ ...(state === 'all' ? {} : { state }), ...(client === '' ? {} : { client_id: client }) }),
  })
  const rows = useMemo(() => data?.pages.flat(), [data])
  return (
    <Stack gap="md">
      <Group gap="sm">
        <SegmentedControl
          className={classes.states ?? ''}
          aria-label="Which messages"
          data={LABELS}
          value={state}
          onChange={setState}
          transitionDuration={0}
        />
        <Select
          aria-label="Client"
          placeholder="All clients"
          data={Object.values(clients).map(({ id, name }) => ({ value: id, label: name }))}
          value={client === '' ? null : client}
          onChange={(id) => setClient(id ?? '')}
          searchable
          clearable
          clearButtonProps={clearButton('All clients')}
        />
      </Group>
      {rows !== undefined ? (
        <Log rows={rows} isAll={state === 'all' && client === ''} />
      ) : error !== null ? (
        <ErrorState error={error} onRetry={() => void refetch()} />
      ) : (
        <Skeleton height={320} radius="md" aria-busy="true" />
      )}
      {hasNextPage && (
        <Group>
          <Button variant="default" loading={isFetchingNextPage} onClick={() => void fetchNextPage()}>
            Show older messages
          </Button>
        </Group>
      )}
    </Stack>
  )
}

function Log({ rows, isAll }: { rows: readonly DeliveryRecord[]; isAll: boolean }) {
  const { clients } = useDirectory()
  const { mayChange } = useSession()
  const navigate = useNavigate()
  const columns = useMemo(() => deliveryColumns(clients, mayChange), [clients, mayChange])
  if (rows.length === 0) {
    return (
      <EmptyState icon={MailCheck} title={isAll ? 'Nothing was sent yet' : 'No message matches'}>
        Every message about an alert is listed once per channel, with its outcome.
      </EmptyState>
    )
  }
  return (
    <DataTable
      label="Messages"
      columns={columns}
      rows={rows}
      keyOf={({ id }) => id}
      onOpen={({ alert_id }) => {
        if (alert_id !== null) void navigate({ to: '/alerts/$alertId', params: { alertId: alert_id } })
      }}
    />
  )
}
