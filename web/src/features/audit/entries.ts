import type { AuditRecord } from '../../api/audit.ts'
import type { ClientRecord } from '../../api/clients.ts'
import type { SiteRecord } from '../../api/sites.ts'
import type { Directory } from '../../lib/use-directory.ts'
import { exact } from '../../lib/words.ts'

/** Names by id; deleted things have none. */
export type Names = ReadonlyMap<string, string>

export const namesOf = (...lists: readonly (readonly { id: string; name: string }[])[]): Names =>
  new Map(lists.flat().map(({ id, name }) => [id, name]))

/** A probe as the log shows it. */
export interface NamedProbe {
  id: string
  name: string
  site_id: string
}

/** The active probes, which every page knows. */
export const runningProbes = ({ sites }: Directory): NamedProbe[] =>
  Object.values(sites).flatMap(({ id, probes }) => probes.map((probe) => ({ ...probe, site_id: id })))

/** Whether any entry is about a probe that is not among `probes` and not deleted by a newer entry, so it must be paused. */
export function hasPausedProbe(entries: readonly AuditRecord[], probes: readonly NamedProbe[]): boolean {
  const known = new Set(probes.map(({ id }) => id))
  return entries.some(({ entity, entity_id, action }) => {
    const isUnknown = entity === 'probe' && action !== 'probe.delete' && !known.has(entity_id)
    // Entries are newest first, so a deletion comes before the probe's earlier entries.
    if (action === 'probe.delete') known.add(entity_id)
    return isUnknown
  })
}

/**
 * The clients, sites and probes to which the log can be narrowed.
 *
 * @param chosen the id in the page's address, which may be of something deleted
 */
export function entityOptions(
  clients: readonly ClientRecord[],
  sites: readonly SiteRecord[],
  probes: readonly NamedProbe[],
  chosen: string,
) {
  const siteNames = namesOf(sites)
  const groups = [
    { group: 'Clients', items: clients.map(({ id, name }) => ({ value: id, label: name })) },
    { group: 'Sites', items: sites.map(({ id, name }) => ({ value: id, label: name })) },
    {
      group: 'Probes',
      items: probes.map(({ id, name, site_id }) => ({ value: id, label: `${name} · ${siteNames.get(site_id) ?? ''}` })),
    },
  ]
  const isKnown = chosen === '' || groups.some(({ items }) => items.some(({ value }) => value === chosen))
  return isKnown ? groups : [...groups, { group: 'Other', items: [{ value: chosen, label: chosen }] }]
}

/** The name of what was changed, now or at that time; for a silence, of what it silences; null when only its id is known. */
export function nameOf(entry: AuditRecord, names: Names): string | null {
  const { entity, entity_id, entity_name, client_id, before, after } = entry
  const then = after?.name ?? before?.name ?? after?.title ?? before?.title
  const known = names.get(entity_id) ?? entity_name ?? (typeof then === 'string' && then !== '' ? then : null)
  if (known !== null) return known
  // The entry contains only the changed fields, without the title.
  if (UNNAMED.has(entity)) return `the ${entity}`
  // The client for which a user's entry is shown is no name of the user.
  if (entity === 'user') return typeof after?.email === 'string' ? after.email : null
  const fields: AuditRecord['before'] = { client_id, ...before, ...after }
  const scope = SCOPES.map((field) => fields[field]).find((id) => typeof id === 'string')
  return typeof scope === 'string' ? (names.get(scope) ?? null) : null
}

/** Things that have a page, but no name in the log. */
const UNNAMED = new Set(['alert', 'incident'])

/** The fields that name what a thing belongs to, narrowest first. */
const SCOPES = ['probe_id', 'site_id', 'client_id']

const VERBS: Readonly<Record<string, string>> = {
  create: 'created',
  update: 'changed',
  delete: 'deleted',
  revoke: 'revoked',
  add_key: 'key added',
  rotate_key: 'key replaced',
  update_key: 'key changed',
  revoke_key: 'key revoked',
  new_address: 'given a new address',
  test_notification: 'test message',
  retry: 'sent again',
  acknowledge: 'acknowledged',
  resolve: 'resolved',
  mark: 'given feedback',
  unmark: 'feedback taken back',
  note: 'note written',
}

/** The page of what was changed; undefined when it has none or is deleted. */
export function pageOf({ entity, entity_id }: Pick<AuditRecord, 'entity' | 'entity_id'>, names: Names) {
  if (entity === 'alert') return { to: '/alerts/$alertId', params: { alertId: entity_id } } as const
  if (entity === 'incident') return { to: '/incidents/$incidentId', params: { incidentId: entity_id } } as const
  if (!names.has(entity_id)) return undefined
  if (entity === 'client') return { to: '/clients/$clientId', params: { clientId: entity_id } } as const
  if (entity === 'site' || entity === 'reference_counts')
    return { to: '/sites/$siteId', params: { siteId: entity_id } } as const
  if (entity === 'probe') return { to: '/probes/$probeId', params: { probeId: entity_id } } as const
  return undefined
}

/** "Site changed" of `site.update`. */
export function actionWords({ action, entity }: AuditRecord): string {
  const verb = action.slice(entity.length + 1)
  const what = entity.replaceAll('_', ' ')
  return `${what.slice(0, 1).toUpperCase()}${what.slice(1)} ${VERBS[verb] ?? verb.replaceAll('_', ' ')}`
}

/** One field of a change; null means no value. */
export interface FieldChange {
  field: string
  before: string | null
  after: string | null
}

/** Fields of no use to people: the thing's own id, and the time of creation. */
const LEFT_OUT = new Set(['id', 'created_at'])

/** The fields that changed. */
export function changesOf({ before, after }: Pick<AuditRecord, 'before' | 'after'>): FieldChange[] {
  const fields = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])]
  return fields
    .filter((field) => !LEFT_OUT.has(field))
    .map((field) => ({ field, before: textOf(before?.[field]), after: textOf(after?.[field]) }))
    .filter((change) => change.before !== null || change.after !== null)
}

function textOf(value: unknown): string | null {
  if (value === null || value === undefined) return null
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

const ID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g

/** A field's value with names for the ids in it, such as those of the clients that someone has roles for. */
export const withNames = (text: string, names: Names): string => text.replace(ID, (id) => names.get(id) ?? id)

const ISO_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/

/** An ISO time of the API as a local time; undefined for any other text. @param zone by default the browser's */
export const localTime = (text: string, zone?: string): string | undefined =>
  ISO_TIME.test(text) && !Number.isNaN(Date.parse(text)) ? exact(Date.parse(text), zone) : undefined
