import { Skeleton } from '@mantine/core'
import type { AlertDetail } from '../../api/alerts.ts'
import { useNow } from '../../lib/external.ts'
import { onset } from '../../lib/onset.ts'
import { duration, exact } from '../../lib/words.ts'
import classes from './detail.module.css'
import { clockTime } from './words.ts'

const MINUTE = 60_000

interface SinceProps {
  /** Or an incident. */
  alert: Pick<AlertDetail, 'started_at' | 'opened_at' | 'resolved_at' | 'down_ms'>
  zone: string | undefined
}

/** When it began, when it was detected, and how long it lasts or lasted. */
export function Since({ alert, zone }: SinceProps) {
  const now = useNow()
  const { started_at, resolved_at, down_ms } = alert
  const began = Date.parse(started_at)
  const ended = resolved_at === null ? null : Date.parse(resolved_at)
  const words = onset(alert, (at) => clockTime(at, zone, now))
  return (
    <>
      <time
        dateTime={started_at}
        title={ended === null ? exact(began, zone) : `${exact(began, zone)} to ${exact(ended, zone)}`}
      >
        {ended === null ? words.began : `from ${clockTime(began, zone, now)} to ${clockTime(ended, zone, now)}`} (
        {duration((ended ?? now) - began)}
        {down_ms < MINUTE ? '' : `, with Tagwarden down for ${duration(down_ms)}`})
      </time>
      {words.detected !== null && (
        <time dateTime={alert.opened_at} title={exact(Date.parse(alert.opened_at), zone)}>
          {words.detected}
        </time>
      )}
    </>
  )
}

/** As large as the page, so that nothing jumps when it loads. */
export function DetailSkeleton({ what }: { what: string }) {
  return (
    <div aria-busy="true">
      <span className="sr-only" role="status">
        Loading the {what}
      </span>
      <div className={classes.columns}>
        <Skeleton height={340} radius="md" />
        <Skeleton height={340} radius="md" />
      </div>
    </div>
  )
}
