import { Link } from '@tanstack/react-router'
import type { AlertDetail } from '../../api/alerts.ts'
import { onset } from '../../lib/onset.ts'
import type { DirectorySite } from '../../lib/use-directory.ts'
import { useNow } from '../../lib/use-now.ts'
import { counted, duration, exact } from '../../lib/words.ts'
import { PageHeader } from '../../ui/PageHeader.tsx'
import { type Quiet, untilWords } from '../../ui/quiet/quiet.ts'
import { StatusBadge } from '../../ui/status/StatusBadge.tsx'
import { StatusMark } from '../../ui/status/StatusMark.tsx'
import { AlertActions } from './AlertActions.tsx'
import classes from './detail.module.css'
import { clockTime, markOf, RESOLUTION_WORDS, sentence } from './words.ts'

interface Props {
  alert: AlertDetail
  site: DirectorySite | undefined
  quiet: Quiet | null
}

/** What is wrong, where, since when, and who takes care of it. */
export function AlertHead({ alert, site, quiet }: Props) {
  const status = markOf(alert)
  const isOver = alert.state === 'resolved'
  const variant = quiet !== null && !isOver ? 'hatched' : alert.state === 'open' ? 'filled' : 'outline'
  return (
    <PageHeader
      title={sentence(alert.title)}
      parents={[{ label: 'Alerts', to: '/alerts' }]}
      mark={<StatusMark status={status} size={16} variant={variant} />}
      actions={<AlertActions alert={alert} quiet={quiet} zone={site?.timezone ?? 'UTC'} />}
    >
      <span className={classes.facts}>
        <StatusBadge status={isOver ? (alert.resolution === 'gone' ? 'unknown' : 'ok') : status} variant={variant}>
          {isOver ? 'resolved' : alert.state === 'open' ? `${alert.severity}, open` : `${alert.severity}, acknowledged`}
        </StatusBadge>
        <SiteLink site={site} />
        <Since alert={alert} zone={site?.timezone} />
        <span>{counted(alert.occurrences, 'bad result')}</span>
        <State alert={alert} quiet={quiet} zone={site?.timezone} />
      </span>
    </PageHeader>
  )
}

function SiteLink({ site }: { site: DirectorySite | undefined }) {
  if (site === undefined) return <span>a site that is switched off</span>
  return (
    <Link to="/sites/$siteId" params={{ siteId: site.id }}>
      {site.name}, {site.client_name}
    </Link>
  )
}

function Since({ alert, zone }: { alert: AlertDetail; zone: string | undefined }) {
  const now = useNow()
  const { started_at, resolved_at } = alert
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
        {duration((ended ?? now) - began)})
      </time>
      {words.detected !== null && (
        <time dateTime={alert.opened_at} title={exact(Date.parse(alert.opened_at), zone)}>
          {words.detected}
        </time>
      )}
    </>
  )
}

function State({ alert, quiet, zone }: { alert: AlertDetail; quiet: Quiet | null; zone: string | undefined }) {
  const now = useNow()
  if (alert.state === 'resolved') {
    return alert.resolution === null ? null : <span>{RESOLUTION_WORDS[alert.resolution]}</span>
  }
  return (
    <>
      {alert.acknowledged_by !== null && <span>acknowledged by {alert.acknowledged_by}</span>}
      {quiet !== null && (
        <span>
          {quiet.kind === 'silence' ? 'silenced' : 'under maintenance'}{' '}
          {untilWords(quiet, (at) => clockTime(at, zone, now))}
          {quiet.why !== null && `: ${quiet.why}`}
        </span>
      )}
      {alert.is_flapping && <span>flapping: notifications are paused until it is steady</span>}
    </>
  )
}
