import { sql } from 'kysely'
import type { Visible } from '../../http/index.ts'
import { chunksOf, type IncidentRow, type Kysely, type Tables, unindexed } from '../../store/index.ts'
import { severityOf } from '../alert-record.ts'
import { type IncidentSummary, incidentRecord } from './records.ts'

/** Number of an incident's alerts and sites. */
interface Reach {
  alerts: number
  sites: number
}

const NOTHING: Reach = { alerts: 0, sites: 0 }

/**
 * Returns incidents as lists show them, with their number of alerts and sites.
 *
 * @param visible the clients that the caller may see, see `withVisibleParents`
 */
export async function summariesOf(
  db: Kysely<Tables>,
  rows: readonly IncidentRow[],
  visible: Visible,
): Promise<IncidentSummary[]> {
  const reaches = await reachOf(
    db,
    rows.map(({ id }) => id),
  )
  const shown = await withVisibleParents(db, rows, visible === null)
  return shown.map((row) => summaryOf(row, reaches.get(row.id)))
}

/** Leaves out `parent_id` where it is a vendor's incident, for a caller who may not see those: they belong to no client. */
export async function withVisibleParents(
  db: Kysely<Tables>,
  rows: readonly IncidentRow[],
  seesVendors: boolean,
): Promise<readonly IncidentRow[]> {
  if (seesVendors) return rows
  const hidden = await vendorsAbove(db, rows)
  return rows.map((row) => (hidden.has(row.parent_id) ? { ...row, parent_id: null } : row))
}

/** Returns the ids of the vendors' incidents that explain these. */
async function vendorsAbove(db: Kysely<Tables>, rows: readonly IncidentRow[]): Promise<Set<string | null>> {
  const ids = new Set(rows.flatMap(({ parent_id }) => parent_id ?? []))
  const vendors = new Set<string | null>()
  for (const chunk of chunksOf([...ids])) {
    const ofVendors = db.selectFrom('incidents').select('id').where('id', 'in', chunk).where('scope', '=', 'vendor')
    for (const { id } of await ofVendors.execute()) vendors.add(id)
  }
  return vendors
}

/** Returns the same for one incident. */
export const oneSummary = async (db: Kysely<Tables>, row: IncidentRow): Promise<IncidentSummary> =>
  summaryOf(row, (await reachOf(db, [row.id])).get(row.id))

const summaryOf = (row: IncidentRow, { alerts, sites }: Reach = NOTHING): IncidentSummary => ({
  ...incidentRecord(row),
  alert_count: alerts,
  site_count: sites,
})

/** Counts the alerts and sites of incidents. Alerts of the incidents that one explains count too: a vendor's has no others. */
async function reachOf(db: Kysely<Tables>, ids: readonly string[]): Promise<Map<string, Reach>> {
  const reaches = new Map<string, Reach>()
  for (const chunk of chunksOf(ids)) {
    const alerts = db
      .selectFrom('alerts')
      .innerJoin('incidents', 'incidents.id', 'alerts.incident_id')
      .select(({ fn }) => [
        fn.countAll<number>().as('alerts'),
        fn.count<number>('alerts.site_id').distinct().as('sites'),
      ])
    const own = await alerts.select('incidents.id').where('incidents.id', 'in', chunk).groupBy('incidents.id').execute()
    const ofParts = await alerts
      .select('incidents.parent_id as id')
      .where('incidents.parent_id', 'in', chunk)
      .groupBy('incidents.parent_id')
      .execute()
    for (const { id, alerts, sites } of [...own, ...ofParts]) {
      const before = reaches.get(id ?? '') ?? NOTHING
      // The parts of a site's incident are of the same site.
      const reach = { alerts: before.alerts + Number(alerts), sites: Math.max(before.sites, Number(sites)) }
      reaches.set(id ?? '', reach)
    }
  }
  return reaches
}

/** A literal, because with a parameter neither engine uses the partial index of unresolved incidents. */
export const LASTS = sql<boolean>`incidents.state <> 'resolved'`

/**
 * The incident's client in a condition on the few that are unresolved or have just ended, where the index on the client must not be
 * used.
 */
export const OWNER = unindexed('incidents.client_id')

/**
 * Returns the unresolved incidents of active sites of active clients, and of vendors, without those that another one explains; the
 * most urgent first. Vendors' incidents belong to no client, so they are left out unless `clients` is null.
 */
export async function openIncidents(db: Kysely<Tables>, clients: Visible): Promise<IncidentRow[]> {
  const rows = await db
    .selectFrom('incidents')
    .leftJoin('sites', 'sites.id', 'incidents.site_id')
    .leftJoin('clients', 'clients.id', 'incidents.client_id')
    .selectAll('incidents')
    .where(LASTS)
    .$if(clients !== null, (all) => all.where(OWNER, 'in', [...(clients ?? [])]))
    .where(({ eb, and, or }) =>
      or([eb('incidents.scope', '=', 'vendor'), and([eb('sites.is_active', '=', 1), eb('clients.is_active', '=', 1)])]),
    )
    .orderBy('incidents.id')
    .execute()
  return withoutParts(rows, rows).toSorted(byUrgency)
}

/** Sorts unacknowledged incidents first, then the worst, then the oldest. */
const byUrgency = (a: IncidentRow, b: IncidentRow): number =>
  Number(b.state === 'open') - Number(a.state === 'open') ||
  Number(severityOf(b) === 'critical') - Number(severityOf(a) === 'critical') ||
  a.started_at - b.started_at

interface Part {
  parent_id: string | null
  resolved_at: number | string | null
}

/** Returns the incidents that none of the `known` explains. One that outlasts its cause stands for itself. */
export function withoutParts<I extends Part>(
  incidents: readonly I[],
  known: readonly (Pick<Part, 'resolved_at'> & { id: string })[],
): I[] {
  const ends = new Map(known.map(({ id, resolved_at }) => [id, resolved_at]))
  const lasts = (id: string) => ends.get(id) === null
  return incidents.filter(({ parent_id, resolved_at }) =>
    resolved_at === null ? !lasts(parent_id ?? '') : !ends.has(parent_id ?? ''),
  )
}
