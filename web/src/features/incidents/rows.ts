import type { AlertRecord } from '../../api/alerts.ts'
import type { IncidentDetail, IncidentSummary } from '../../api/incidents.ts'
import type { Directory } from '../../lib/use-directory.ts'
import type { Scope } from '../../ui/mute/mutes.ts'
import { type InboxQuery, lastEndedFirst, STATES, worstFirst } from '../alerts/inbox.ts'
import { CAUSE_WORDS } from './words.ts'

/** An incident with those that it explains. */
export interface IncidentNode {
  incident: IncidentSummary
  /** The incidents that it explains; for a vendor's incident, those of the sites. */
  parts: readonly IncidentSummary[]
  /** Its unresolved alerts, and those of its parts. */
  alerts: readonly AlertRecord[]
}

export type IncidentRow =
  | { kind: 'heading'; key: string; state: IncidentSummary['state']; count: number }
  | { kind: 'incident'; key: string; node: IncidentNode }

/** Groups incidents: one that another in the list explains becomes a part of that. */
export function incidentNodes(incidents: readonly IncidentSummary[], alerts: readonly AlertRecord[]): IncidentNode[] {
  const ids = new Set(incidents.map(({ id }) => id))
  const within = Map.groupBy(incidents, ({ parent_id }) => (ids.has(parent_id ?? '') ? parent_id : null))
  const byIncident = Map.groupBy(alerts, ({ incident_id }) => incident_id)
  return (within.get(null) ?? []).map((incident) => {
    const parts = within.get(incident.id) ?? []
    return { incident, parts, alerts: [incident, ...parts].flatMap(({ id }) => byIncident.get(id) ?? []) }
  })
}

/** The lines of the inbox: open incidents, acknowledged ones, both by severity, then the resolved ones, the last resolved first. */
export function incidentRows(
  nodes: readonly IncidentNode[],
  directory: Directory,
  { filter, text }: InboxQuery,
): IncidentRow[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean)
  const wanted = nodes.filter((node) => {
    const haystack = words.length === 0 ? '' : wordsOf(node, directory)
    return words.every((word) => haystack.includes(word))
  })
  return STATES.flatMap((state) => {
    const own = filter === 'all' || filter === state ? wanted.filter(({ incident }) => incident.state === state) : []
    if (own.length === 0) return []
    const order = state === 'resolved' ? lastEndedFirst : worstFirst
    const rows = own
      .toSorted((a, b) => order(a.incident, b.incident))
      .map((node): IncidentRow => ({ kind: 'incident', key: node.incident.id, node }))
    return [{ kind: 'heading', key: state, state, count: own.length }, ...rows]
  })
}

function wordsOf({ incident, parts, alerts }: IncidentNode, { sites, clients }: Directory): string {
  const all = [incident, ...parts]
  return [
    ...all.flatMap(({ title, cause, vendor, site_id, client_id }) => [
      title,
      CAUSE_WORDS[cause],
      vendor,
      sites[site_id ?? '']?.name,
      clients[client_id ?? '']?.name,
    ]),
    ...alerts.flatMap(({ title, message }) => [title, message]),
  ]
    .join(' ')
    .toLowerCase()
}

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
