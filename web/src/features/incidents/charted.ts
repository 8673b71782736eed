import type { IncidentDetail } from '../../api/incidents.ts'

type Alert = IncidentDetail['alerts'][number]

/** The alerts to draw: what explains the others first, then the earliest; of one check about one thing the last. */
export function chartedAlerts({ alerts, lead_alert_id }: Pick<IncidentDetail, 'alerts' | 'lead_alert_id'>): Alert[] {
  const isLead = ({ id }: Alert) => id === lead_alert_id
  const latest = new Map(alerts.map((alert) => [`${alert.probe_id} ${alert.subject_key}`, alert]))
  return [...latest.values()].toSorted(
    (a, b) => Number(isLead(b)) - Number(isLead(a)) || Date.parse(a.started_at) - Date.parse(b.started_at),
  )
}
