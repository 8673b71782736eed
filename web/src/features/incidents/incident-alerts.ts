import type { AlertRecord } from '../../api/alerts.ts'
import type { IncidentDetail } from '../../api/incidents.ts'
import type { Scope } from '../../ui/mute/mutes.ts'

type Alert = IncidentDetail['alerts'][number]

/** The alerts to draw: what explains the others first, then the earliest; of one check about one thing the last. */
export function chartedAlerts({ alerts, lead_alert_id }: Pick<IncidentDetail, 'alerts' | 'lead_alert_id'>): Alert[] {
  const isLead = ({ id }: Alert) => id === lead_alert_id
  const latest = new Map(alerts.map((alert) => [`${alert.probe_id} ${alert.subject_key}`, alert]))
  return [...latest.values()].toSorted(
    (a, b) => Number(isLead(b)) - Number(isLead(a)) || Date.parse(a.started_at) - Date.parse(b.started_at),
  )
}

type Silenced = Pick<AlertRecord, 'state' | 'site_id'>

const NONE: Scope = { client_id: null, site_id: null, probe_id: null }

/** What is silenced where an incident is: itself, with all that joins it later, or the whole of its sites. */
export function incidentScopes(id: string, alerts: readonly Silenced[], reach: 'incident' | 'sites'): Scope[] {
  if (reach === 'incident') return [{ ...NONE, incident_id: id }]
  const lasting = alerts.filter(({ state }) => state !== 'resolved')
  return [...new Set(lasting.map(({ site_id }) => site_id))].map((site_id) => ({ ...NONE, site_id }))
}
