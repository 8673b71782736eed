import type { AlertRecord } from '../../api/alerts.ts'
import { useNow } from '../../lib/external.ts'
import { onsetLine } from '../../lib/onset.ts'
import type { DirectorySite } from '../../lib/use-directory.ts'
import { counted } from '../../lib/words.ts'
import type { Mute } from '../../ui/mute/mutes.ts'
import { SilenceMenu } from '../../ui/mute/SilenceMenu.tsx'
import { StatusBadge } from '../../ui/status/StatusMark.tsx'
import classes from './alerts.module.css'
import { InboxLine, type LineActions } from './InboxLine.tsx'
import { Handled } from './inbox-parts.tsx'
import { typeName } from './type-names.ts'
import { clockTime, endWords, markOf } from './words.ts'

interface AlertRowProps extends LineActions<AlertRecord> {
  alert: AlertRecord
  site: DirectorySite | undefined
  /** Shown instead of an unknown site's name. */
  noSite: string
  mute: Mute | null
  isSelected: boolean
}

export function AlertRow({ alert, site, noSite, mute, ...line }: AlertRowProps) {
  const status = markOf(alert)
  const zone = site?.timezone
  return (
    <InboxLine
      {...line}
      item={alert}
      link={{ to: '/alerts/$alertId', params: { alertId: alert.id } }}
      status={status}
      mute={mute}
      zone={zone}
      where={
        <>
          {site === undefined ? noSite : `${site.name} · ${site.client_name}`}
          {zone !== undefined && <Onset alert={alert} zone={zone} />}
          <span className={classes.type}> · {typeName(alert.probe_type)}</span>
        </>
      }
      handled={
        alert.state === 'resolved' ? (
          <span className={classes.handled}>{endWords(alert)}</span>
        ) : (
          <Handled mute={mute} status={status} acknowledgedBy={alert.acknowledged_by} zone={zone ?? null}>
            {alert.is_flapping && <StatusBadge status="unknown">flapping</StatusBadge>}
          </Handled>
        )
      }
      count={
        <span className={classes.occurrences}>
          {alert.occurrences} ×<span className="sr-only"> {counted(alert.occurrences, 'bad result')}</span>
        </span>
      }
      drawSilencing={(menu) => <SilenceMenu target={alert} zone={zone ?? 'UTC'} {...menu} />}
    />
  )
}

/** When the alert began, if it was detected later. */
function Onset({ alert, zone }: { alert: AlertRecord; zone: string }) {
  const now = useNow()
  const line = alert.state === 'resolved' ? null : onsetLine(alert, (at) => clockTime(at, zone, now))
  return line === null ? null : <span> · {line}</span>
}
