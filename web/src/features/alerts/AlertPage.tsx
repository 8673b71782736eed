import { Skeleton, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { useMemo } from 'react'
import { type AlertDetail, type AlertRecord, alertQuery, alertsQuery } from '../../api/alerts.ts'
import { markersQuery } from '../../api/analytics.ts'
import { incidentQuery } from '../../api/incidents.ts'
import { AboutClient } from '../../api/session.ts'
import { useDirectoryWith } from '../../lib/paused-sites.ts'
import { useIsDirectoryAwaited } from '../../lib/use-directory.ts'
import { muteOf, useMutes } from '../../ui/mute/mutes.ts'
import { PageHeader } from '../../ui/PageHeader.tsx'
import { RelativeTime } from '../../ui/RelativeTime.tsx'
import { Awaited, ErrorState, InlineError } from '../../ui/States.tsx'
import { StatusBadge } from '../../ui/status/StatusMark.tsx'
import { AtAGlance, AtAGlanceSkeleton } from '../incidents/AtAGlance.tsx'
import { AlertChart, Panel } from './AlertChart.tsx'
import { AlertFeedback } from './AlertFeedback.tsx'
import { AlertHead } from './AlertHead.tsx'
import { AlertIncident } from './AlertIncident.tsx'
import { AlertList } from './AlertList.tsx'
import classes from './detail.module.css'
import { DetailSkeleton } from './detail-parts.tsx'
import { LeftOut, Timeline } from './Timeline.tsx'
import { POLL_MS, useLiveAlerts, useResults } from './use-live-alerts.ts'
import { sentence } from './words.ts'

/** Maximum number of alerts of the same probe on the page. */
const SIMILAR = 10

/** One alert: its chart, its timeline, what changed before, and earlier alerts of the same probe. */
export function AlertPage() {
  const { alertId = '' } = useParams({ strict: false })
  useLiveAlerts()
  const { data, error, refetch } = useQuery({ ...alertQuery(alertId), refetchInterval: POLL_MS })
  const isAwaited = useIsDirectoryAwaited()
  if (data !== undefined && !isAwaited) return <Loaded key={data.id} alert={data} />
  return (
    <>
      <PageHeader
        title={data === undefined ? 'Alert' : sentence(data.title)}
        parents={[{ label: 'Alerts', to: '/alerts' }]}
      />
      {error !== null ? <ErrorState error={error} onRetry={() => void refetch()} /> : <DetailSkeleton what="alert" />}
    </>
  )
}

const NONE: readonly AlertRecord[] = []

function Loaded({ alert }: { alert: AlertDetail }) {
  const site = useDirectoryWith([alert.site_id]).sites[alert.site_id]
  const zone = site?.timezone
  const mute = muteOf(useMutes(), alert)
  const ofProbe = useQuery(alertsQuery({ probe_id: alert.probe_id, limit: SIMILAR + 1 }))
  const others = useMemo(() => (ofProbe.data ?? NONE).filter(({ id }) => id !== alert.id), [ofProbe.data, alert.id])
  return (
    <AboutClient value={alert.client_id}>
      <AlertHead alert={alert} site={site} mute={mute} />
      {alert.incident_id !== null && <Glance id={alert.incident_id} alertId={alert.id} zone={zone} />}
      <Facts facts={alert.facts} />
      <div className={classes.columns}>
        <div className={classes.column}>
          <AlertChart alert={alert} others={others} zone={zone} />
          <AlertFeedback alert={alert} zone={zone} />
          <Panel title="Latest results" isLater>
            <LatestResults alert={alert} zone={zone} />
          </Panel>
        </div>
        <div className={classes.column}>
          <Panel title="Timeline">
            <LeftOut lines={alert.timeline_left_out} />
            <Timeline alert={alert} zone={zone} />
          </Panel>
          {alert.incident_id !== null && (
            <Panel title="Incident" isLater>
              <AlertIncident id={alert.incident_id} alertId={alert.id} zone={zone} />
            </Panel>
          )}
          <Panel title="What changed before">
            <Before alert={alert} zone={zone} />
          </Panel>
          <Panel title="Other alerts of this probe">
            {ofProbe.data === undefined ? (
              <Awaited error={ofProbe.error} onRetry={() => void ofProbe.refetch()} height={96} />
            ) : others.length === 0 ? (
              <Text c="dimmed">This probe has not opened an alert before.</Text>
            ) : (
              <AlertList alerts={others} zone={zone} />
            )}
          </Panel>
        </div>
      </div>
    </AboutClient>
  )
}

/** The summary of the alert's incident. */
function Glance({ id, alertId, zone }: { id: string; alertId: string; zone: string | undefined }) {
  const { data, error } = useQuery(incidentQuery(id))
  if (data !== undefined) return <AtAGlance incident={data} alertId={alertId} zone={zone} />
  return error === null ? <AtAGlanceSkeleton /> : null
}

/** What was measured and what is usual, and for which event or tag. */
function Facts({ facts }: { facts: AlertDetail['facts'] }) {
  if (facts.length === 0) return null
  return (
    <dl className={classes.figures}>
      {facts.map(({ name, value }) => (
        <div key={name} data-measured={name === 'Measured' || undefined}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}

const SHOWN = 12

/** What the alert's probe found last. */
function LatestResults({ alert, zone }: { alert: AlertDetail; zone: string | undefined }) {
  const { data, error, refetch } = useResults(alert.probe_id)
  if (data === undefined) {
    return error === null ? <Skeleton height={300} /> : <ErrorState error={error} onRetry={() => void refetch()} />
  }
  if (data.length === 0) return <Text c="dimmed">Its results are gone: they are kept only for a while.</Text>
  return (
    <ul className={classes.results}>
      {data.slice(0, SHOWN).map(({ id, status, message, executed_at, maintenance_id }) => (
        <li key={id}>
          <StatusBadge status={status} variant={maintenance_id === null ? 'filled' : 'hatched'} />
          <span className={classes.message}>{sentence(message)}</span>
          <span className={classes.when}>
            <RelativeTime at={executed_at} {...(zone === undefined ? {} : { zone })} />
          </span>
        </li>
      ))}
    </ul>
  )
}

const HOUR = 3_600_000
const BEFORE = 24 * HOUR

/** The versions published from a day before the alert began until it opened, newest first. */
function Before({ alert, zone }: { alert: AlertDetail; zone: string | undefined }) {
  const began = Date.parse(alert.started_at)
  const range = {
    from: new Date(began - BEFORE).toISOString(),
    to: new Date(Date.parse(alert.opened_at) + 1_000).toISOString(),
  }
  const { data: markers = [], error, refetch } = useQuery(markersQuery(alert.site_id, range))
  // The newest one is in the sentence above.
  const earlier = markers.toReversed().slice(alert.change === null ? 0 : 1)
  return (
    <div className={classes.before}>
      <p>
        {alert.change === null
          ? 'No new version was seen in the 6 hours before it began.'
          : `It began ${alert.change}.`}
      </p>
      {error !== null && <InlineError error={error} onRetry={() => void refetch()} height={64} />}
      {earlier.length > 0 && (
        <ul>
          {earlier.map(({ at, source, from_version, to_version }) => (
            <li key={`${at} ${source}`}>
              {source} {from_version === null ? to_version : `${from_version} → ${to_version}`}
              <span className={classes.muted}>
                {' '}
                <RelativeTime at={at} {...(zone === undefined ? {} : { zone })} />
              </span>
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}
