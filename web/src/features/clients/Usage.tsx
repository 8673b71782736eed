import { useInViewport } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { type UsageRecord, usageQuery } from '../../api/clients.ts'
import { compact, counted, percent, whole } from '../../lib/words.ts'
import { RowAwaited } from '../../ui/RowAwaited.tsx'
import clients from './clients.module.css'
import classes from './Usage.module.css'

/** The share of the month's events that is used, with marks at 80 and 100 %. */
export function UsageBar({ usage: { events, limit, share, level } }: { usage: UsageRecord }) {
  if (limit === null || share === null) {
    return (
      <span className={classes.words}>
        <b>{compact(events)}</b> events this month, without a limit
      </span>
    )
  }
  const word = { ok: '', warning: ' · nearly used up', exceeded: ' · used up: refused' }[level]
  return (
    <div className={classes.usage} data-level={level}>
      <div className={classes.track} aria-hidden="true">
        <div className={classes.fill} style={{ width: `${Math.min(1, share) * 100}%` }} />
      </div>
      <span className={classes.words} title={`${whole(events)} of ${whole(limit)}`}>
        <b>{compact(events)}</b> of {compact(limit)} · {percent(share)}
        {word}
      </span>
    </div>
  )
}

const names = new Intl.DateTimeFormat('en', { month: 'short', timeZone: 'UTC' })

/** The events of the last twelve months, the current one on the right. */
export function UsageMonths({ usage: { history } }: { usage: UsageRecord }) {
  const most = Math.max(1, ...history.map(({ events }) => events))
  return (
    <ul className={clients.months} aria-label="Events by month">
      {history.map(({ month, events, requests }) => (
        <li key={month} title={`${month}: ${counted(events, 'event')} in ${counted(requests, 'request')}`}>
          <div
            className={clients.month}
            data-empty={events === 0 || undefined}
            style={{ height: `${(events / most) * 100}%` }}
          />
          <span aria-hidden="true">{names.format(Date.parse(`${month}-01T00:00:00Z`))}</span>
          <span className="sr-only">
            {month}: {counted(events, 'event')}
          </span>
        </li>
      ))}
    </ul>
  )
}

/** Loads when the row becomes visible, so that a long list does not make as many calls at once. */
export function RowUsage({ clientId }: { clientId: string }) {
  const { ref, inViewport } = useInViewport<HTMLDivElement>()
  const { data, error, refetch } = useQuery({ ...usageQuery(clientId), enabled: inViewport })
  return (
    <div ref={ref} className={clients.usage}>
      {data === undefined ? (
        <RowAwaited error={error} onRetry={() => void refetch()} height={12} width="80%" />
      ) : (
        <UsageBar usage={data} />
      )}
    </div>
  )
}
