import { Button, Group, Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { ApiError } from '../../api/client.ts'
import { subscriptionQuery, useConfirmSubscription, useUnsubscribe } from '../../api/status.ts'
import { LinkButton } from '../../ui/LinkButton.tsx'
import { ErrorState } from '../../ui/States.tsx'
import { useTab } from '../../ui/status/status.ts'
import { Gone, Sheet } from './Sheet.tsx'
import classes from './status.module.css'

/** The page of the links in a subscriber's e-mails, to confirm or end the subscription. */
export function SubscriptionPage() {
  const { token = '', secret = '' } = useParams({ strict: false })
  useTab('Subscription', 'unknown')
  const { data, error, refetch } = useQuery(subscriptionQuery(token, secret))
  const confirm = useConfirmSubscription(token, secret)
  const unsubscribe = useUnsubscribe(token, secret)
  if (unsubscribe.isSuccess) {
    return (
      <Sheet title="Unsubscribed">
        <p className={classes.text} role="status">
          You get no more e-mail about this status page, and your address is forgotten.
        </p>
      </Sheet>
    )
  }
  if (error instanceof ApiError && error.code === 'not_found') return <Gone />
  if (data === undefined) {
    return (
      <Sheet title="Subscription">
        {error === null ? <Skeleton height={76} /> : <ErrorState error={error} onRetry={() => void refetch()} />}
      </Sheet>
    )
  }
  const failed = confirm.error ?? unsubscribe.error
  const end = (
    <Button variant="default" loading={unsubscribe.isPending} onClick={() => unsubscribe.mutate()}>
      {data.is_confirmed ? 'Unsubscribe' : 'Do not subscribe'}
    </Button>
  )
  return (
    <Sheet title={data.is_confirmed ? 'Subscribed' : 'Confirm your subscription'}>
      <p className={classes.text} role="status">
        {data.is_confirmed
          ? `${data.email} gets e-mail about incidents and maintenance of ${data.name}.`
          : `Send e-mail about incidents and maintenance of ${data.name} to ${data.email}?`}
      </p>
      <Group mt="md">
        {data.is_confirmed ? (
          <LinkButton to="/status/$token" params={{ token }}>
            Open the status page
          </LinkButton>
        ) : (
          <Button loading={confirm.isPending} onClick={() => confirm.mutate()}>
            Confirm
          </Button>
        )}
        {end}
      </Group>
      {failed !== null && (
        <p className={classes.text} role="alert">
          {failed.message}
        </p>
      )}
    </Sheet>
  )
}
