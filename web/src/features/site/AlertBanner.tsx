import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Bell, BellOff, Check, ChevronDown } from 'lucide-react'
import { useState } from 'react'
import { type AlertRecord, alertQuery, useEndSilence } from '../../api/alerts.ts'
import { useSession } from '../../api/session.ts'
import type { SiteRecord } from '../../api/site.ts'
import { onset } from '../../lib/onset.ts'
import { useNow } from '../../lib/use-now.ts'
import { duration, exact } from '../../lib/words.ts'
import { type Quiet, untilWords } from '../../ui/quiet/quiet.ts'
import { SilenceMenu } from '../../ui/quiet/SilenceMenu.tsx'
import { StatusMark } from '../../ui/status/StatusMark.tsx'
import { useAcknowledging } from '../../ui/undo/use-acknowledging.ts'
import classes from './AlertBanner.module.css'
import { factsInWords } from './alert-facts.ts'
import { useSiteView } from './use-site-view.ts'
import { clock } from './words.ts'

interface Props {
  alert: AlertRecord
  site: SiteRecord
  /** What keeps messages about it back. */
  quiet: Quiet | null
}

/** What is broken, since when, what changed before, and the two things one can do about the messages. */
export function AlertBanner({ alert, site, quiet }: Props) {
  const { data: detail } = useQuery(alertQuery(alert.id))
  const now = useNow()
  const zone = site.timezone
  const since = Date.parse(alert.started_at)
  const words = onset(alert, (at) => clock(at, now, zone))
  const status = alert.subject === 'check' ? 'error' : alert.severity
  const variant = quiet !== null ? 'hatched' : alert.state === 'acknowledged' ? 'outline' : 'filled'
  return (
    <article className={classes.banner} data-status={status} data-variant={variant}>
      <span className={classes.mark}>
        <StatusMark status={status} variant={variant} label={`${alert.severity}, ${alert.state}`} />
      </span>
      <div className={classes.words}>
        <h2>
          <Link to="/alerts/$alertId" params={{ alertId: alert.id }}>
            {alert.title}
          </Link>
        </h2>
        <p>
          <span title={exact(since, zone)}>
            {words.began} ({duration(now - since)})
          </span>
          {words.detected !== null && <span>{words.detected}</span>}
          {detail?.change != null && <span>began {detail.change}</span>}
          {detail !== undefined && factsInWords(detail.facts).map((fact) => <span key={fact}>{fact}</span>)}
          {alert.is_flapping && <span>flapping</span>}
          {alert.acknowledged_by !== null && <span>acknowledged by {alert.acknowledged_by}</span>}
          {quiet !== null && (
            <span>
              {quiet.kind === 'silence' ? 'silent' : 'maintenance'} {untilWords(quiet, (at) => clock(at, now, zone))}
            </span>
          )}
        </p>
      </div>
      <Actions alert={alert} quiet={quiet} zone={zone} tag={detail?.facts.find(({ name }) => name === 'Tag')?.value} />
    </article>
  )
}

function Actions({
  alert,
  quiet,
  zone,
  tag,
}: Pick<Props, 'alert' | 'quiet'> & { zone: string; tag: string | undefined }) {
  const { mayChange } = useSession()
  const { setFocus } = useSiteView()
  const [fault, setFault] = useState<string | null>(null)
  const acknowledging = useAcknowledging()
  const endSilence = useEndSilence()
  const onError = (error: Error) => setFault(error.message)
  return (
    <div className={classes.actions}>
      {tag !== undefined && (
        <Button
          variant="default"
          className={classes.look ?? ''}
          title={tag}
          onClick={() => setFocus({ kind: 'tag', name: tag })}
        >
          Look at {tag}
        </Button>
      )}
      {mayChange && alert.state === 'open' && (
        <Button
          variant="default"
          leftSection={<Check size={16} aria-hidden />}
          loading={acknowledging.isBusy}
          onClick={() => acknowledging.run([alert.id])}
        >
          Acknowledge
        </Button>
      )}
      {mayChange && quiet === null && (
        <SilenceMenu target={alert} zone={zone}>
          <Button
            variant="default"
            leftSection={<BellOff size={16} aria-hidden />}
            rightSection={<ChevronDown size={14} aria-hidden />}
          >
            Silence
          </Button>
        </SilenceMenu>
      )}
      {mayChange && quiet?.kind === 'silence' && (
        <Button
          variant="default"
          leftSection={<Bell size={16} aria-hidden />}
          loading={endSilence.isPending}
          onClick={() => endSilence.mutate(quiet.id, { onError })}
        >
          End the silence
        </Button>
      )}
      {fault !== null && <p role="alert">{fault}</p>}
    </div>
  )
}
