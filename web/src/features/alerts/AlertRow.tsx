import { ActionIcon, Button, Checkbox } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { BellOff } from 'lucide-react'
import type { AlertRecord } from '../../api/alerts.ts'
import { useNow } from '../../lib/external.ts'
import { onsetLine } from '../../lib/onset.ts'
import type { DirectorySite } from '../../lib/use-directory.ts'
import { counted } from '../../lib/words.ts'
import type { Mute } from '../../ui/mute/mutes.ts'
import { SilenceMenu } from '../../ui/mute/SilenceMenu.tsx'
import { StatusBadge, StatusMark } from '../../ui/status/StatusMark.tsx'
import { STATUS_WORDS } from '../../ui/status/status.ts'
import { AlertTimes } from './AlertTimes.tsx'
import classes from './alerts.module.css'
import { Handled } from './inbox-parts.tsx'
import { typeName } from './type-names.ts'
import { clockTime, endWords, markOf, sentence } from './words.ts'

export interface RowActions {
  mayChange: boolean
  acknowledge: (alert: AlertRecord) => void
  select: (alert: AlertRecord) => void
  /** The alert whose silence menu is open. */
  silencing: string | null
  setSilencing: (id: string | null) => void
}

interface AlertRowProps extends RowActions {
  alert: AlertRecord
  site: DirectorySite | undefined
  mute: Mute | null
  isSelected: boolean
}

export function AlertRow({ alert, site, mute, isSelected, ...actions }: AlertRowProps) {
  const status = markOf(alert)
  const isOver = alert.state === 'resolved'
  const variant = mute !== null && !isOver ? 'hatched' : alert.state === 'open' ? 'filled' : 'outline'
  return (
    <div className={classes.row} data-status={status} data-over={isOver || undefined}>
      <span className={classes.check}>
        {actions.mayChange && alert.state === 'open' && (
          <Checkbox
            size="xs"
            aria-label={`Select: ${sentence(alert.title)}`}
            checked={isSelected}
            onChange={() => actions.select(alert)}
          />
        )}
      </span>
      <StatusMark status={status} variant={variant} label={STATUS_WORDS[status]} />
      <div className={classes.what}>
        <Link
          to="/alerts/$alertId"
          params={{ alertId: alert.id }}
          className={classes.title}
          data-key={alert.id}
          title={sentence(alert.title)}
        >
          {sentence(alert.title)}
        </Link>
        <span className={classes.where}>
          {site === undefined ? 'a paused site' : `${site.name} · ${site.client_name}`}
          <Onset alert={alert} zone={site?.timezone} />
          <span className={classes.type}> · {typeName(alert.probe_type)}</span>
        </span>
      </div>
      {isOver ? (
        <span className={classes.handled}>{endWords(alert)}</span>
      ) : (
        <Handled mute={mute} status={status} acknowledgedBy={alert.acknowledged_by} zone={site?.timezone}>
          {alert.is_flapping && <StatusBadge status="unknown">flapping</StatusBadge>}
        </Handled>
      )}
      <span className={classes.occurrences}>
        {alert.occurrences} ×<span className="sr-only"> {counted(alert.occurrences, 'bad result')}</span>
      </span>
      <AlertTimes alert={alert} zone={site?.timezone} />
      <Actions alert={alert} mute={mute} zone={site?.timezone ?? 'UTC'} {...actions} />
    </div>
  )
}

/** Where it began before it was seen. */
function Onset({ alert, zone }: { alert: AlertRecord; zone: string | undefined }) {
  const now = useNow()
  const line = alert.state === 'resolved' ? null : onsetLine(alert, (at) => clockTime(at, zone, now))
  return line === null ? null : <span> · {line}</span>
}

function Actions({
  alert,
  mute,
  zone,
  mayChange,
  acknowledge,
  silencing,
  setSilencing,
}: RowActions & { alert: AlertRecord; mute: Mute | null; zone: string }) {
  if (!mayChange || alert.state === 'resolved') return <span className={classes.actions} />
  return (
    <span className={classes.actions}>
      {alert.state === 'open' && (
        <Button size="compact-sm" variant="default" onClick={() => acknowledge(alert)}>
          Acknowledge
        </Button>
      )}
      {mute === null && (
        <SilenceMenu
          target={alert}
          zone={zone}
          opened={silencing === alert.id}
          onChange={(opened) => setSilencing(opened ? alert.id : null)}
        >
          <ActionIcon variant="default" size={26} aria-label="Silence" title="Silence">
            <BellOff size={14} aria-hidden />
          </ActionIcon>
        </SilenceMenu>
      )}
    </span>
  )
}
