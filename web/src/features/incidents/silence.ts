import type { AlertRecord } from '../../api/alerts.ts'
import type { Scope } from '../../ui/mute/mutes.ts'

type Silenced = Pick<AlertRecord, 'state' | 'probe_id' | 'site_id' | 'subject_key' | 'subject_label'>

const NONE: Scope = { client_id: null, site_id: null, probe_id: null }

/** What is silenced where an incident is: what each of its alerts is about that is not over, or the whole of its sites. */
export function incidentScopes(alerts: readonly Silenced[], reach: 'alerts' | 'sites'): Scope[] {
  const lasting = alerts.filter(({ state }) => state !== 'resolved')
  const scopes = lasting.map(({ probe_id, site_id, subject_key, subject_label }): Scope => {
    if (reach === 'sites') return { ...NONE, site_id }
    // What a probe judges as a whole has no tag, event or field of its own.
    return subject_label === null ? { ...NONE, probe_id } : { ...NONE, probe_id, subject_key }
  })
  return [...new Map(scopes.map((scope) => [JSON.stringify(scope), scope])).values()]
}
