import { Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { type IncidentDetail, type IncidentRecord, incidentQuery } from '../../api/incidents.ts'
import { AboutClient } from '../../api/session.ts'
import { useDirectoryWith } from '../../lib/paused-sites.ts'
import { useDirectory, useIsDirectoryAwaited } from '../../lib/use-directory.ts'
import { personName } from '../../lib/words.ts'
import { ownZone } from '../../lib/zone.ts'
import { PageHeader } from '../../ui/PageHeader.tsx'
import { ErrorState } from '../../ui/States.tsx'
import { StatusMark } from '../../ui/status/StatusMark.tsx'
import { STATUS_WORDS } from '../../ui/status/status.ts'
import { Panel } from '../alerts/AlertChart.tsx'
import { Evidence } from '../alerts/AlertIncident.tsx'
import { AlertTimes } from '../alerts/AlertTimes.tsx'
import classes from '../alerts/detail.module.css'
import { DetailSkeleton } from '../alerts/detail-parts.tsx'
import { LeftOut } from '../alerts/Timeline.tsx'
import { POLL_MS, useLiveAlerts } from '../alerts/use-live-alerts.ts'
import { sentence } from '../alerts/words.ts'
import { AffectedMatrix } from './AffectedMatrix.tsx'
import { AtAGlance } from './AtAGlance.tsx'
import { ImpactPanel } from './ImpactPanel.tsx'
import { IncidentCharts } from './IncidentCharts.tsx'
import { IncidentHead } from './IncidentHead.tsx'
import { IncidentTimeline } from './IncidentTimeline.tsx'
import own from './incidents.module.css'
import { Notes } from './Notes.tsx'
import { PostMortem } from './PostMortem.tsx'
import { ShareIncident } from './ShareIncident.tsx'
import { markOf } from './words.ts'

/** One incident: the alerts of one cause, since when, the evidence, and what people did about it. */
export function IncidentPage() {
  const { incidentId = '' } = useParams({ strict: false })
  useLiveAlerts()
  const { data, error, refetch } = useQuery({ ...incidentQuery(incidentId), refetchInterval: POLL_MS })
  const isAwaited = useIsDirectoryAwaited()
  if (data !== undefined && !isAwaited) return <Loaded key={data.id} incident={data} />
  return (
    <>
      <PageHeader title={data === undefined ? 'Incident' : sentence(data.title)} parents={PARENTS} />
      {error !== null ? (
        <ErrorState error={error} onRetry={() => void refetch()} />
      ) : (
        <DetailSkeleton what="incident" />
      )}
    </>
  )
}

const PARENTS = [{ label: 'Incidents', to: '/incidents' }]

function Loaded({ incident }: { incident: IncidentDetail }) {
  const site = useDirectoryWith([incident.site_id]).sites[incident.site_id ?? '']
  const zone = site?.timezone
  return (
    <AboutClient value={incident.client_id}>
      <IncidentHead incident={incident} site={site} />
      <AtAGlance incident={incident} zone={zone} />
      <div className={classes.columns}>
        <div className={classes.column}>
          <Panel anchor="affected" title="What is affected" note={`times in ${zone ?? ownZone()}`}>
            <AffectedMatrix incident={incident} zone={zone} />
          </Panel>
          {incident.impact !== null && (
            <Panel anchor="cost" title="What it costs">
              <ImpactPanel impact={incident.impact} />
            </Panel>
          )}
          <Panel anchor="why" title="Evidence">
            <Reasons incident={incident} />
          </Panel>
          <div className={`${classes.later} ${own.charts}`}>
            <IncidentCharts incident={incident} zone={zone ?? ownZone()} />
          </div>
        </div>
        <div className={classes.column}>
          <Panel anchor="timeline" title="Timeline">
            <LeftOut lines={incident.timeline_left_out} />
            <IncidentTimeline incident={incident} zone={zone} />
          </Panel>
          {incident.parts.length > 0 && (
            <Panel title="Incidents of the sites">
              <Parts parts={incident.parts} />
            </Panel>
          )}
          <Panel anchor="notes" title="Notes" isForScreen={incident.notes.length === 0}>
            <Notes incident={incident} zone={zone} asksName />
          </Panel>
          <Panel title="Post-mortem" isLater isForScreen>
            <PostMortem incident={incident} zone={zone ?? ownZone()} />
          </Panel>
          <Panel title="Share" isLater isForScreen>
            <ShareIncident incident={incident} />
          </Panel>
        </div>
      </div>
    </AboutClient>
  )
}

/** The evidence for the cause, strongest first, and why its alerts are one incident. */
function Reasons({ incident: { alerts, evidence, likely_cause } }: { incident: IncidentDetail }) {
  if (evidence.length === 0) {
    return (
      <Text c="dimmed">
        {alerts.length === 1
          ? 'One alert so far: nothing else began with it, and no new version was seen before.'
          : 'Nothing else began with these alerts, and no new version was seen before.'}
      </Text>
    )
  }
  return (
    <div className={classes.before}>
      {likely_cause !== null && (
        <p>
          <b>Likely cause:</b> {sentence(likely_cause)}
        </p>
      )}
      <Evidence evidence={evidence.filter((why) => why !== likely_cause)} />
    </div>
  )
}

/** The sites' incidents that a vendor's incident explains. */
function Parts({ parts }: { parts: readonly IncidentRecord[] }) {
  const { sites } = useDirectory()
  return (
    <ul className={classes.past}>
      {parts.map((part) => {
        const site = sites[part.site_id ?? '']
        return (
          <li key={part.id}>
            <StatusMark
              status={markOf(part)}
              variant={part.state === 'open' ? 'filled' : 'outline'}
              label={STATUS_WORDS[markOf(part)]}
            />
            <div>
              <Link to="/incidents/$incidentId" params={{ incidentId: part.id }}>
                {sentence(part.title)}
              </Link>
              <p className={classes.muted}>
                {site === undefined ? '' : `${site.name}, ${site.client_name} · `}
                <AlertTimes alert={part} zone={site?.timezone} />
                {part.state === 'acknowledged' && ` · acknowledged by ${personName(part.acknowledged_by ?? '')}`}
              </p>
            </div>
          </li>
        )
      })}
    </ul>
  )
}
