import type { SharedSite as Site } from '../../api/status.ts'
import { onset } from '../../lib/onset.ts'
import { counted } from '../../lib/words.ts'
import { RelativeTime } from '../../ui/RelativeTime.tsx'
import { Sparkline } from '../../ui/Sparkline.tsx'
import { StatusMark } from '../../ui/status/StatusMark.tsx'
import { moment, stateWords } from './sentence.ts'
import classes from './status.module.css'

/** A site: its state, the shape of its day, and what is not settled. */
export function SharedSite({ site, now }: { site: Site; now: number }) {
  return (
    <li className={classes.site}>
      <div className={classes.head}>
        <StatusMark status={site.status} size={14} />
        <h3 className={classes.name}>{site.name}</h3>
        <span className={classes.state} data-status={site.status}>
          {stateWords(site, now)}
        </span>
        <span className={classes.sparkline}>
          <Sparkline values={site.sparkline} label={shapeInWords(site.sparkline)} />
        </span>
        <span className={classes.seen}>
          {site.last_event_at === null ? (
            'no event yet'
          ) : (
            <>
              last event <RelativeTime at={site.last_event_at} />
            </>
          )}
        </span>
      </div>
      {site.alerts.length > 0 && (
        <ul className={classes.alerts} aria-label={`Open problems of ${site.name}`}>
          {site.alerts.map((alert, index) => (
            <Alert key={listKey(index)} alert={alert} now={now} />
          ))}
        </ul>
      )}
    </li>
  )
}

/** The answer has no ids, and each line is drawn from nothing but its alert. */
const listKey = (index: number): string => `alert ${index}`

function Alert({ alert, now }: { alert: Site['alerts'][number]; now: number }) {
  const { title, severity, state } = alert
  const { began, detected } = onset(alert, (at) => moment(at, now))
  const isTaken = state === 'acknowledged'
  return (
    <li>
      <StatusMark status={severity} size={10} label={severity} variant={isTaken ? 'outline' : 'filled'} />
      <span>
        {title}{' '}
        <span className={classes.muted}>
          · {began}
          {detected !== null && ` · ${detected}`}
          {isTaken && ' · someone is on it'}
        </span>
      </span>
    </li>
  )
}

function shapeInWords(values: readonly number[]): string {
  const done = values.slice(0, -1)
  return `Events an hour in the last 24 hours: at most ${counted(Math.max(0, ...done), 'event')}`
}
