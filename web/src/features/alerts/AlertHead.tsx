import { Button } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { BellOff, BellRing } from 'lucide-react'
import { type AlertDetail, useEndSilence, useHandleAlert } from '../../api/alerts.ts'
import { saidBy, useMyName, useSession } from '../../api/session.ts'
import { useNow } from '../../lib/external.ts'
import { notifyOf } from '../../lib/refusal.ts'
import { type DirectorySite, useDirectory } from '../../lib/use-directory.ts'
import { counted, personName } from '../../lib/words.ts'
import { type Mute, untilWords } from '../../ui/mute/mutes.ts'
import { SilenceMenu } from '../../ui/mute/SilenceMenu.tsx'
import { PageHeader } from '../../ui/PageHeader.tsx'
import { StatusBadge, StatusMark } from '../../ui/status/StatusMark.tsx'
import { useUndoAcknowledging } from '../../ui/undo.tsx'
import classes from './detail.module.css'
import { Since } from './detail-parts.tsx'
import { HandlePopover } from './HandlePopover.tsx'
import { clockTime, markOf, RESOLUTION_WORDS, sentence } from './words.ts'

interface AlertHeadProps {
  alert: AlertDetail
  site: DirectorySite | undefined
  mute: Mute | null
}

/** What is wrong, where, since when, and who is working on it. */
export function AlertHead({ alert, site, mute }: AlertHeadProps) {
  const status = markOf(alert)
  const isOver = alert.state === 'resolved'
  const variant = mute !== null && !isOver ? 'hatched' : alert.state === 'open' ? 'filled' : 'outline'
  return (
    <PageHeader
      title={sentence(alert.title)}
      parents={[{ label: 'Alerts', to: '/alerts' }]}
      mark={<StatusMark status={status} size={16} variant={variant} />}
      actions={<AlertActions alert={alert} mute={mute} zone={site?.timezone ?? 'UTC'} />}
    >
      <span className={classes.facts}>
        <StatusBadge status={isOver ? (alert.resolution === 'gone' ? 'unknown' : 'ok') : status} variant={variant}>
          {isOver ? 'resolved' : alert.state === 'open' ? `${alert.severity}, open` : `${alert.severity}, acknowledged`}
        </StatusBadge>
        <SiteLink site={site} />
        <Since alert={alert} zone={site?.timezone} />
        <span>{counted(alert.occurrences, 'bad result')}</span>
        <State alert={alert} mute={mute} zone={site?.timezone} />
      </span>
    </PageHeader>
  )
}

function SiteLink({ site }: { site: DirectorySite | undefined }) {
  const { noSite } = useDirectory()
  if (site === undefined) return <span>{noSite}</span>
  return (
    <Link to="/sites/$siteId" params={{ siteId: site.id }}>
      {site.name}, {site.client_name}
    </Link>
  )
}

function State({ alert, mute, zone }: { alert: AlertDetail; mute: Mute | null; zone: string | undefined }) {
  const now = useNow()
  if (alert.state === 'resolved') {
    return alert.resolution === null ? null : <span>{RESOLUTION_WORDS[alert.resolution]}</span>
  }
  return (
    <>
      {alert.acknowledged_by !== null && <span>acknowledged by {personName(alert.acknowledged_by)}</span>}
      {mute !== null && (
        <span>
          {mute.kind === 'silence' ? 'silenced' : 'under maintenance'}{' '}
          {untilWords(mute, (at) => clockTime(at, zone, now))}
          {mute.why !== null && `: ${mute.why}`}
        </span>
      )}
      {alert.is_flapping && (
        <span>
          flapping: notifications are paused until it is steady{alert.severity === 'warning' && ' or becomes critical'}
        </span>
      )}
    </>
  )
}

interface AlertActionsProps {
  alert: AlertDetail
  mute: Mute | null
  zone: string
}

/** The actions on an unresolved alert. */
function AlertActions({ alert, mute, zone }: AlertActionsProps) {
  const { mayChange } = useSession()
  const end = useEndSilence()
  const handle = useHandleAlert()
  const offerUndo = useUndoAcknowledging()
  const [name] = useMyName()
  if (!mayChange || alert.state === 'resolved') return null
  return (
    <>
      {alert.state === 'open' && (
        <HandlePopover
          action="Acknowledge"
          variant="filled"
          run={(said) =>
            handle.mutateAsync({ id: alert.id, verb: 'acknowledge', ...said }).then(() => offerUndo([alert.id]))
          }
        >
          Says that someone is working on it. Reminders stop once all alerts of its incident are acknowledged.
        </HandlePopover>
      )}
      {alert.state === 'acknowledged' && (
        <Button
          variant="default"
          loading={handle.isPending}
          onClick={() => handle.mutate({ id: alert.id, verb: 'unacknowledge', ...saidBy(name) }, { onError: failed })}
        >
          Un-acknowledge
        </Button>
      )}
      {mute === null ? (
        <SilenceMenu target={alert} zone={zone}>
          <Button variant="default" leftSection={<BellOff size={16} aria-hidden />}>
            Silence
          </Button>
        </SilenceMenu>
      ) : (
        mute.kind === 'silence' && (
          <Button
            variant="default"
            leftSection={<BellRing size={16} aria-hidden />}
            loading={end.isPending}
            onClick={() => end.mutate(mute.id, { onError: failed })}
          >
            End the silence
          </Button>
        )
      )}
      <HandlePopover action="Resolve" run={(said) => handle.mutateAsync({ id: alert.id, verb: 'resolve', ...said })}>
        Resolves the alert by hand. If the next result is bad too, another one opens.
      </HandlePopover>
    </>
  )
}

const failed = notifyOf('Not changed')
