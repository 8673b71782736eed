import { Button, Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { ApiError } from '../../api/client.ts'
import { digestQuery, useChangeDigest } from '../../api/digests.ts'
import { ErrorState } from '../../ui/States.tsx'
import { useTab } from '../../ui/status/status.ts'
import { Sheet } from './Sheet.tsx'
import classes from './status.module.css'

/** The page of the link in a digest, which stops digests to one address. Opening it changes nothing. */
export function DigestPage() {
  const { secret = '' } = useParams({ strict: false })
  useTab('Digests', 'unknown')
  const { data, error, refetch } = useQuery(digestQuery(secret))
  const change = useChangeDigest(secret)
  if (error instanceof ApiError && error.code === 'not_found') {
    return (
      <Sheet title="This link does not work">
        <p className={classes.text}>
          It may be incomplete, or the client was deleted, which ends its digests. If you still get them, use the link
          in the latest one.
        </p>
      </Sheet>
    )
  }
  if (data === undefined) {
    return (
      <Sheet title="Digests">
        {error === null ? <Skeleton height={76} /> : <ErrorState error={error} onRetry={() => void refetch()} />}
      </Sheet>
    )
  }
  const { name, email, opted_out_at } = data
  const isStopped = opted_out_at !== null
  return (
    <Sheet title={isStopped ? 'Unsubscribed' : `Digests of ${name}`}>
      <p className={classes.text} role="status">
        {isStopped ? `${email} gets no more digests of ${name}.` : `${email} gets digests of ${name}.`} Alerts are not
        affected: an editor of {name} stops those by removing the address.
      </p>
      <Button
        mt="md"
        variant={isStopped ? 'default' : 'filled'}
        loading={change.isPending}
        onClick={() => change.mutate(isStopped ? 'resume' : 'stop')}
      >
        {isStopped ? 'Resume digests' : 'Unsubscribe'}
      </Button>
      {change.error !== null && (
        <p className={classes.text} role="alert">
          {change.error.message}
        </p>
      )}
    </Sheet>
  )
}
