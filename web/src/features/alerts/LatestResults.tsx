import { Skeleton, Text } from '@mantine/core'
import type { AlertDetail } from '../../api/alerts.ts'
import { ErrorState } from '../../ui/ErrorState.tsx'
import { RelativeTime } from '../../ui/RelativeTime.tsx'
import { StatusBadge } from '../../ui/status/StatusBadge.tsx'
import classes from './detail.module.css'
import { useResults } from './use-results.ts'
import { sentence } from './words.ts'

const SHOWN = 12

/** What the alert's probe found last. */
export function LatestResults({ alert, zone }: { alert: AlertDetail; zone: string | undefined }) {
  const { data, error, refetch } = useResults(alert.probe_id)
  if (data === undefined) {
    return error === null ? <Skeleton height={300} /> : <ErrorState error={error} onRetry={() => void refetch()} />
  }
  if (data.length === 0) return <Text c="dimmed">Its results are gone: they are kept for a while only.</Text>
  return (
    <ul className={classes.results}>
      {data.slice(0, SHOWN).map(({ id, status, message, executed_at, maintenance_id }) => (
        <li key={id}>
          <StatusBadge status={status} variant={maintenance_id === null ? 'filled' : 'hatched'} />
          <span className={classes.message}>{sentence(message)}</span>
          <span className={classes.when}>
            <RelativeTime at={executed_at} {...(zone === undefined ? {} : { zone })} />
          </span>
        </li>
      ))}
    </ul>
  )
}
