import { Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { AlertRecord } from '../../api/alerts.ts'
import { StatusMark } from '../../ui/status/StatusMark.tsx'
import { STATUS_WORDS } from '../../ui/status/status.ts'
import { AlertTimes } from './AlertTimes.tsx'
import classes from './detail.module.css'
import { endWords, markOf, sentence } from './words.ts'

/** Earlier alerts of the same probe: whether it was seen before, and how it ended. */
export function PastAlerts({ alerts, zone }: { alerts: readonly AlertRecord[]; zone: string | undefined }) {
  if (alerts.length === 0) return <Text c="dimmed">This probe has not opened an alert before.</Text>
  return (
    <ul className={classes.past}>
      {alerts.map((alert) => (
        <li key={alert.id}>
          <StatusMark status={markOf(alert)} variant="outline" label={STATUS_WORDS[markOf(alert)]} />
          <div>
            <Link to="/alerts/$alertId" params={{ alertId: alert.id }}>
              {sentence(alert.title)}
            </Link>
            <p className={classes.muted}>
              <AlertTimes alert={alert} zone={zone} />
              {alert.state === 'resolved' && ` · ${endWords(alert)}`}
              {alert.acknowledged_by !== null && ` · acknowledged by ${alert.acknowledged_by}`}
            </p>
          </div>
        </li>
      ))}
    </ul>
  )
}
