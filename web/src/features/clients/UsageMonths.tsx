import type { UsageRecord } from '../../api/usage.ts'
import { whole } from '../../lib/words.ts'
import classes from './clients.module.css'

const names = new Intl.DateTimeFormat('en', { month: 'short', timeZone: 'UTC' })

/** The events of the last twelve months, the present one at the right. */
export function UsageMonths({ usage: { history } }: { usage: UsageRecord }) {
  const most = Math.max(1, ...history.map(({ events }) => events))
  return (
    <ul className={classes.months} aria-label="Events by month">
      {history.map(({ month, events, requests }) => (
        <li key={month} title={`${month}: ${whole(events)} events in ${whole(requests)} requests`}>
          <div
            className={classes.month}
            data-empty={events === 0 || undefined}
            style={{ height: `${(events / most) * 100}%` }}
          />
          <span aria-hidden="true">{names.format(Date.parse(`${month}-01T00:00:00Z`))}</span>
          <span className="sr-only">
            {month}: {whole(events)} events
          </span>
        </li>
      ))}
    </ul>
  )
}
