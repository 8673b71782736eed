import type { Tables, Transaction } from '../store/index.ts'

/** A change before its secrets are masked. */
interface Changed {
  entity: string
  id: string
  /** Where neither the id nor the record says it. */
  clientId?: string
  before: Readonly<Record<string, unknown>> | null
  after: Readonly<Record<string, unknown>> | null
}

/** Entities whose `id` is that of their client. */
const OF_CLIENT: readonly string[] = ['client', 'status_link', 'status_page']
/** Entities whose `id` is that of their site. */
const OF_SITE: readonly string[] = ['site', 'reference_counts', 'tag_vendor']

/**
 * The client that a change is about; null for one of the whole service. By what the entry says itself, since what was deleted is
 * gone by now, and else by the rows it names.
 */
export async function clientOfChange(trx: Transaction<Tables>, entry: Changed): Promise<string | null> {
  const { entity, id } = entry
  if (entry.clientId !== undefined) return entry.clientId
  if (OF_CLIENT.includes(entity)) return id
  const named = (field: string): string | null => {
    const value = entry.after?.[field] ?? entry.before?.[field]
    return typeof value === 'string' ? value : null
  }
  const clientId = named('client_id')
  if (clientId !== null) return clientId
  const siteId = OF_SITE.includes(entity) ? id : (named('site_id') ?? (await siteOfProbe(trx, named('probe_id'))))
  if (siteId !== null) return clientOf(trx, 'sites', siteId)
  const incidentId = entity === 'incident' ? id : named('incident_id')
  if (incidentId !== null) return clientOf(trx, 'incidents', incidentId)
  if (entity === 'alert') return clientOf(trx, 'alerts', id)
  return entity === 'delivery' ? clientOf(trx, 'deliveries', id) : null
}

async function siteOfProbe(trx: Transaction<Tables>, probeId: string | null): Promise<string | null> {
  if (probeId === null) return null
  const probe = await trx.selectFrom('probes').select('site_id').where('id', '=', probeId).executeTakeFirst()
  return probe?.site_id ?? null
}

async function clientOf(
  trx: Transaction<Tables>,
  table: 'sites' | 'incidents' | 'alerts' | 'deliveries',
  id: string,
): Promise<string | null> {
  const row = await trx.selectFrom(table).select('client_id').where('id', '=', id).executeTakeFirst()
  return row?.client_id ?? null
}
