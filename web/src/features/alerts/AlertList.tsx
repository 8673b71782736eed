import { Link } from '@tanstack/react-router'
import type { AlertRecord } from '../../api/alerts.ts'
import { personName } from '../../lib/words.ts'
import { StatusMark } from '../../ui/status/StatusMark.tsx'
import { STATUS_WORDS } from '../../ui/status/status.ts'
import { AlertTimes } from './AlertTimes.tsx'
import classes from './detail.module.css'
import { endWords, markOf, sentence } from './words.ts'

interface AlertListProps {
  alerts: readonly AlertRecord[]
  zone: string | undefined
  /** Returns the name of an alert's site, when the alerts are of several sites. */
  siteOf?: (alert: AlertRecord) => string | undefined
}

/** Other alerts than the page's: what, when, and how they were resolved. */
export function AlertList({ alerts, zone, siteOf = () => undefined }: AlertListProps) {
  return (
    <ul className={classes.past}>
      {alerts.map((alert) => (
        <li key={alert.id}>
          <StatusMark
            status={markOf(alert)}
            variant={alert.state === 'open' ? 'filled' : 'outline'}
            label={STATUS_WORDS[markOf(alert)]}
          />
          <div>
            <Link to="/alerts/$alertId" params={{ alertId: alert.id }}>
              {sentence(alert.title)}
            </Link>
            <p className={classes.muted}>
              {siteOf(alert) !== undefined && `${siteOf(alert)} · `}
              <AlertTimes alert={alert} zone={zone} />
              {alert.state === 'resolved' && ` · ${endWords(alert)}`}
              {alert.acknowledged_by !== null && ` · acknowledged by ${personName(alert.acknowledged_by)}`}
            </p>
          </div>
        </li>
      ))}
    </ul>
  )
}
