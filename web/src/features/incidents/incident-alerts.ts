import type { AlertRecord } from '../../api/alerts.ts'
import type { IncidentDetail } from '../../api/incidents.ts'
import type { Scope } from '../../ui/mute/mutes.ts'

type Alert = IncidentDetail['alerts'][number]

/** The alerts to chart: the lead first, then the earliest; for one subject of one probe only its latest alert. */
export function chartedAlerts({ alerts, lead_alert_id }: Pick<IncidentDetail, 'alerts' | 'lead_alert_id'>): Alert[] {
  const isLead = ({ id }: Alert) => id === lead_alert_id
  const latest = new Map(alerts.map((alert) => [`${alert.probe_id} ${alert.subject_key}`, alert]))
  return [...latest.values()].toSorted(
    (a, b) => Number(isLead(b)) - Number(isLead(a)) || Date.parse(a.started_at) - Date.parse(b.started_at),
  )
}

type Silenced = Pick<AlertRecord, 'state' | 'site_id'>

const NONE: Scope = { client_id: null, site_id: null, probe_id: null }

/** The scopes that silence an incident: itself, including alerts that join it later, or its whole sites. */
export function incidentScopes(id: string, alerts: readonly Silenced[], reach: 'incident' | 'sites'): Scope[] {
  if (reach === 'incident') return [{ ...NONE, incident_id: id }]
  const lasting = alerts.filter(({ state }) => state !== 'resolved')
  return [...new Set(lasting.map(({ site_id }) => site_id))].map((site_id) => ({ ...NONE, site_id }))
}
