import { Button, Group, SegmentedControl, Select, Skeleton, Stack } from '@mantine/core'
import { useMediaQuery } from '@mantine/hooks'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { MailCheck } from 'lucide-react'
import { useMemo } from 'react'
import { type DeliveryRecord, deliveriesQuery, useRetryDelivery } from '../../api/channels.ts'
import { clientsQuery } from '../../api/clients.ts'
import { useMayChange, useSession } from '../../api/session.ts'
import { useNow } from '../../lib/external.ts'
import { notifyOf } from '../../lib/refusal.ts'
import { useDirectory } from '../../lib/use-directory.ts'
import { useUrlState } from '../../lib/use-url-state.ts'
import { unbroken } from '../../lib/words.ts'
import { clearButton } from '../../ui/clear-button.ts'
import { channelName, deliveryStatus, heldUntil } from '../../ui/delivery-words.ts'
import { RelativeTime } from '../../ui/RelativeTime.tsx'
import { EmptyState, ErrorState } from '../../ui/States.tsx'
import { StatusBadge } from '../../ui/status/StatusMark.tsx'
import type { Column } from '../../ui/table/column.ts'
import { DataTable } from '../../ui/table/DataTable.tsx'
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
  const { data: clients } = useQuery(clientsQuery)
  const names = useMemo(() => new Map(clients?.map(({ id, name }) => [id, name])), [clients])
  const { mayChange } = useSession()
  const mayChangeOf = useMayChange()
  const navigate = useNavigate()
  const isPhone = useMediaQuery(PHONE, undefined, { getInitialValueInEffect: false }) ?? false
  // A message that belongs to no client needs a role for all clients, as adding a client does.
  const maySend = ({ client_id }: DeliveryRecord) => mayChangeOf(client_id)
  const columns = deliveryColumns(names, mayChange ? maySend : null)
  const shown = isPhone ? [stacked(columns)] : columns
  if (rows.length === 0) {
    return (
      <EmptyState icon={MailCheck} title={isAll ? 'Nothing has been sent yet' : 'No message matches'}>
        Every message about an alert is listed once per channel, with its outcome.
      </EmptyState>
    )
  }
  return (
    <DataTable
      label="Messages"
      columns={shown}
      rows={rows}
      keyOf={({ id }) => id}
      onOpen={({ alert_id }) => {
        if (alert_id !== null) void navigate({ to: '/alerts/$alertId', params: { alertId: alert_id } })
      }}
    />
  )
}

const PHONE = '(max-width: 48em)'

/** All columns in one: beside each other on a phone, a message would have room for two words. */
const stacked = (columns: readonly Column<DeliveryRecord>[]): Column<DeliveryRecord> => ({
  key: 'message',
  title: 'Message',
  render: (delivery) => (
    <div className={classes.stacked}>
      {columns
        .filter(({ key }) => key !== 'attempts')
        .map(({ key, render }) => (
          <div key={key}>{render(delivery)}</div>
        ))}
    </div>
  ),
})

const STATE_WORDS: Readonly<Record<DeliveryRecord['state'], string>> = {
  pending: 'waiting',
  delivered: 'delivered',
  failed: 'failed',
  cancelled: 'cancelled',
}

const KIND_WORDS: Readonly<Record<string, string>> = {
  explained: 'cause found',
  escalated: 'now critical',
  widened: 'now on more events',
  passed: 'over before it was due',
  vendor_opened: 'vendor fails',
  vendor_resolved: 'vendor works again',
  own_failure: 'Tagwarden itself',
  own_recovery: 'Tagwarden itself',
}

function deliveryColumns(
  names: ReadonlyMap<string, string>,
  maySend: ((delivery: DeliveryRecord) => boolean) | null,
): Column<DeliveryRecord>[] {
  const retry: Column<DeliveryRecord> = {
    key: 'retry',
    title: '',
    width: '6rem',
    render: (delivery) => {
      const { id, state } = delivery
      const isOpen = state === 'failed' || state === 'pending'
      return isOpen && maySend?.(delivery) === true ? <RetryButton id={id} /> : null
    },
  }
  return [
    {
      key: 'state',
      title: 'State',
      width: '7.5rem',
      render: (delivery) => <StatusBadge status={deliveryStatus(delivery)}>{STATE_WORDS[delivery.state]}</StatusBadge>,
    },
    {
      key: 'title',
      title: 'Message',
      render: (delivery) => (
        <span className={classes.message}>
          <span className={classes.kind}>{KIND_WORDS[delivery.kind] ?? delivery.kind}</span> {unbroken(delivery.title)}
          <Why delivery={delivery} />
        </span>
      ),
    },
    {
      key: 'channel',
      title: 'Channel',
      width: '13rem',
      render: (delivery) => (
        <>
          {channelName(delivery)}
          {delivery.client_id !== null && <span className={classes.muted}> {names.get(delivery.client_id)}</span>}
        </>
      ),
    },
    { key: 'attempts', title: 'Tries', isNumber: true, width: '4rem', render: ({ attempts }) => attempts },
    {
      key: 'at',
      title: 'Written',
      width: '8rem',
      render: ({ created_at }) => (
        <span className={classes.when}>
          <RelativeTime at={created_at} />
        </span>
      ),
    },
    ...(maySend === null ? [] : [retry]),
  ]
}

function Why({ delivery }: { delivery: DeliveryRecord }) {
  const { last_error, note, not_before } = delivery
  const held = heldUntil(delivery, useNow())
  if (held !== null) {
    return (
      <span className={classes.note}>
        due <RelativeTime at={not_before} />
      </span>
    )
  }
  if (last_error === null && note === null) return null
  return <span className={last_error === null ? classes.note : classes.failure}>{last_error ?? note}</span>
}

/** Sends a message that was not delivered again. */
function RetryButton({ id }: { id: string }) {
  const retry = useRetryDelivery()
  return (
    <Button
      size="compact-sm"
      variant="default"
      loading={retry.isPending}
      onClick={(event) => {
        // A click on the row would open the alert.
        event.stopPropagation()
        retry.mutate(id, {
          onError: notifyOf('Not sent again'),
        })
      }}
    >
      Send now
    </Button>
  )
}
