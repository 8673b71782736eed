import type { DeliveryRecord } from '../../api/deliveries.ts'
import { channelName, deliveryStatus } from '../../ui/delivery/words.ts'
import { RelativeTime } from '../../ui/RelativeTime.tsx'
import { StatusBadge } from '../../ui/status/StatusBadge.tsx'
import type { Column } from '../../ui/table/column.ts'
import { RetryButton } from './RetryButton.tsx'
import classes from './settings.module.css'

const STATE_WORDS: Readonly<Record<DeliveryRecord['state'], string>> = {
  pending: 'waiting',
  delivered: 'delivered',
  failed: 'failed',
  cancelled: 'cancelled',
}

const KIND_WORDS: Readonly<Record<string, string>> = {
  own_failure: 'Tagwarden itself',
  own_recovery: 'Tagwarden itself',
}

export function deliveryColumns(
  clients: Readonly<Record<string, { name: string }>>,
  mayChange: boolean,
): Column<DeliveryRecord>[] {
  const retry: Column<DeliveryRecord> = {
    key: 'retry',
    title: '',
    width: '6rem',
    render: ({ id, state }) => (state === 'failed' || state === 'pending' ? <RetryButton id={id} /> : null),
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
          <span className={classes.kind}>{KIND_WORDS[delivery.kind] ?? delivery.kind}</span> {delivery.title}
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
          {delivery.client_id !== null && (
            <span className={classes.muted}>
              {' '}
              {clients[delivery.client_id]?.name ?? 'a client that is switched off'}
            </span>
          )}
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
    ...(mayChange ? [retry] : []),
  ]
}

function Why({ delivery: { last_error, note } }: { delivery: DeliveryRecord }) {
  if (last_error === null && note === null) return null
  return <span className={last_error === null ? classes.note : classes.failure}>{last_error ?? note}</span>
}
