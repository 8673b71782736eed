import { Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { IncidentDetail } from '../../api/incidents.ts'
import { onCallQuery } from '../../api/on-call.ts'
import { useSession } from '../../api/session.ts'
import { useNow } from '../../lib/external.ts'
import { personName } from '../../lib/words.ts'
import { LinkButton } from '../../ui/LinkButton.tsx'
import { clockTime } from '../alerts/words.ts'
import classes from './AtAGlance.module.css'
import { affectedWords, causeWords, chartsOf, lossWords, messageDue } from './at-a-glance.ts'

interface Props {
  incident: IncidentDetail
  /** The alert that the page is about, if it is not the incident's page. */
  alertId?: string
  zone: string | undefined
}

/** What is lost, what is affected, why, and who is working on it, each with a link to the details. */
export function AtAGlance({ incident, alertId, zone }: Props) {
  const now = useNow()
  const { mayChange } = useSession()
  const { id, impact, state, acknowledged_by } = incident
  const alert = incident.alerts.find((one) => one.id === (alertId ?? incident.lead_alert_id)) ?? incident.alerts[0]
  const owner = acknowledged_by === null ? null : personName(acknowledged_by)
  const charts = chartsOf(incident)
  const due = messageDue(incident, (at) => clockTime(at, zone, now), now)
  const part = (hash: string, text: ReactNode) => (
    <Link to="/incidents/$incidentId" params={{ incidentId: id }} hash={hash}>
      {text}
    </Link>
  )
  return (
    <>
      <dl className={classes.strip} aria-label="At a glance">
        <div>
          <dt>{impact?.final === true || state === 'resolved' ? 'Lost' : 'Lost so far'}</dt>
          <dd>
            {impact === null ? lossWords(incident) : part('cost', lossWords(incident))}
            {impact?.value != null && <div className={classes.muted}>{impact.value.text}</div>}
          </dd>
        </div>
        <div>
          <dt>Affected</dt>
          <dd>{part('affected', affectedWords(incident.affected))}</dd>
        </div>
        <div>
          <dt>Likely cause</dt>
          <dd>
            <Cause incident={incident} />
          </dd>
        </div>
        <div>
          <dt>Owner</dt>
          <dd>
            {part('timeline', owner ?? (state === 'resolved' ? 'No one acknowledged it' : 'No one yet'))}
            {state === 'open' && incident.client_id !== null && <OnCallNow clientId={incident.client_id} />}
            {due !== null && <div className={classes.due}>{due}</div>}
          </dd>
        </div>
      </dl>
      <div className={classes.ways}>
        {charts !== null && (
          <LinkButton
            size="compact-sm"
            variant="default"
            maw="100%"
            classNames={{ label: classes.label ?? '' }}
            title={charts.name}
            to="/sites/$siteId"
            params={{ siteId: charts.siteId }}
            search={charts.search}
          >
            Open {charts.name} at this time
          </LinkButton>
        )}
        {alert !== undefined && (
          <LinkButton size="compact-sm" variant="default" to="/probes/$probeId" params={{ probeId: alert.probe_id }}>
            Check settings
          </LinkButton>
        )}
        <LinkButton
          size="compact-sm"
          variant="default"
          to="/incidents/$incidentId"
          params={{ incidentId: id }}
          hash="notes"
        >
          {mayChange ? 'Comment' : 'Notes'}
        </LinkButton>
      </div>
    </>
  )
}

export const AtAGlanceSkeleton = () => <Skeleton className={classes.awaited ?? ''} />

/** Who is on call, while no one is working on it. */
function OnCallNow({ clientId }: { clientId: string }) {
  const { data } = useQuery(onCallQuery(clientId))
  if (data?.now == null) return null
  return <div className={classes.muted}>On call: {data.now.name}</div>
}

const AROUND = 2 * 3_600_000

/** The likely cause with a link: a change to the charts around it, an alert or a vendor to its page, anything else to the evidence. */
function Cause({ incident }: { incident: IncidentDetail }) {
  const { id, likely_cause_kind, change_at, lead_alert_id, parent_id, site_id } = incident
  const text = causeWords(incident)
  if (likely_cause_kind === 'change' && change_at !== null && site_id !== null) {
    const at = Date.parse(change_at)
    const search = { from: new Date(at - AROUND).toISOString(), to: new Date(at + AROUND).toISOString() }
    return (
      <Link to="/sites/$siteId" params={{ siteId: site_id }} search={search}>
        {text}
      </Link>
    )
  }
  if (likely_cause_kind === 'alert' && lead_alert_id !== null) {
    return (
      <Link to="/alerts/$alertId" params={{ alertId: lead_alert_id }}>
        {text}
      </Link>
    )
  }
  if (likely_cause_kind === 'vendor' && parent_id !== null) {
    return (
      <Link to="/incidents/$incidentId" params={{ incidentId: parent_id }}>
        {text}
      </Link>
    )
  }
  return (
    <Link to="/incidents/$incidentId" params={{ incidentId: id }} hash="why">
      {text}
    </Link>
  )
}
