import type { AlertRecord } from '../../api/alerts.ts'
import { useNow } from '../../lib/use-now.ts'
import { type Quiet, untilWords } from '../../ui/quiet/quiet.ts'
import { StatusBadge } from '../../ui/status/StatusBadge.tsx'
import classes from './alerts.module.css'
import { clockTime, endWords, markOf } from './words.ts'

interface Props {
  alert: AlertRecord
  quiet: Quiet | null
  zone: string | undefined
}

/** Who takes care of an alert, what keeps it quiet, how it ended; empty for one that waits for someone. */
export function Handled({ alert, quiet, zone }: Props) {
  const now = useNow()
  if (alert.state === 'resolved') {
    return <span className={classes.handled}>{endWords(alert)}</span>
  }
  return (
    <span className={classes.handled}>
      {quiet !== null && (
        <StatusBadge status={markOf(alert)} variant="hatched">
          {`${quiet.kind === 'silence' ? 'silenced' : 'maintenance'} ${untilWords(quiet, (at) => clockTime(at, zone, now))}`}
        </StatusBadge>
      )}
      {alert.is_flapping && <StatusBadge status="unknown">flapping</StatusBadge>}
      {alert.acknowledged_by !== null && (
        <StatusBadge status={markOf(alert)} variant="outline">{`by ${alert.acknowledged_by}`}</StatusBadge>
      )}
    </span>
  )
}
