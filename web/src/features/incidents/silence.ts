import type { AlertRecord } from '../../api/alerts.ts'
import type { Scope } from '../../ui/mute/mutes.ts'

type Silenced = Pick<AlertRecord, 'state' | 'site_id'>

const NONE: Scope = { client_id: null, site_id: null, probe_id: null }

/** What is silenced where an incident is: itself, with all that joins it later, or the whole of its sites. */
export function incidentScopes(id: string, alerts: readonly Silenced[], reach: 'incident' | 'sites'): Scope[] {
  if (reach === 'incident') return [{ ...NONE, incident_id: id }]
  const lasting = alerts.filter(({ state }) => state !== 'resolved')
  return [...new Set(lasting.map(({ site_id }) => site_id))].map((site_id) => ({ ...NONE, site_id }))
}
