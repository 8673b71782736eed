import { saidOf, vendorOf } from '../../analytics/index.ts'
import { DAY, firstIdAt, floorTo, HOUR, MINUTE } from '../../lib/index.ts'
import type { ChannelSettings } from '../../notifications/index.ts'
import { WHOLE } from '../../probes/index.ts'
import { chunksOf, type IncidentRow, type Kysely, type Tables } from '../../store/index.ts'
import {
  BASE_MS,
  LEAST_SITES,
  leastFor,
  mostTogether,
  siteCount,
  type VendorFault,
  type VendorSign,
  type VendorSite,
} from './across-sites.ts'
import { noFallsAmong, sitesWithTraffic } from './falls.ts'
import { LASTS } from './reach.ts'
import { FAILING, FALL_TYPES, FALLS, LOCKED_OUT_OF, OURS, resolutionOf } from './sign.ts'

/** What is known about vendors across sites. */
export interface VendorState {
  /** Unresolved incidents of vendors. */
  open: {
    row: IncidentRow
    vendor: string
    failing: string
    lasting: number
    announced: number
    isCritical: boolean
    /** The clients of its sites. */
    clientIds: ReadonlySet<string>
  }[]
  /** Sites' incidents that are about a vendor and not yet part of a vendor's incident. */
  loose: VendorSign[]
  /** Vendors' incidents that have ended and are back on enough of their sites, with these sites' incidents. */
  back: readonly { id: string; partIds: readonly string[] }[]
  sitesOf: (vendor: string, failing: string) => readonly VendorSite[]
}

/** Returns the fault that an open incident of a vendor is about, without signs that are new. */
export const faultOf = ({ row, vendor, failing }: VendorState['open'][number]): VendorFault => ({
  vendor,
  failing,
  startedAt: row.started_at,
  signs: [],
  sites: 0,
})

/** A site's incident older than this cannot belong to a fault that is found now. */
const LOOSE_MS = 3 * HOUR

/** Signs older than this were already judged, without result. The margin lets a node that takes over judge them again. */
const NEWS_MS = 5 * MINUTE

/** Reads the state in two small statements when nothing is wrong; the rest is read only once several sites show the same. */
export async function readVendors(db: Kysely<Tables>, now: number): Promise<VendorState> {
  const rows = await db
    .selectFrom('incidents')
    .leftJoin('alerts', 'alerts.id', 'incidents.lead_alert_id')
    .select(['incidents.id', 'incidents.site_id', 'incidents.vendor', 'incidents.parent_id', 'incidents.opened_at'])
    .select('incidents.client_id')
    .select([
      'incidents.scope',
      'incidents.announced_at',
      'alerts.id as lead_id',
      'alerts.started_at',
      'alerts.confirmed_at',
      'alerts.probe_type',
      'alerts.subject',
    ])
    .where(LASTS)
    .where(({ or, eb }) => or([eb('incidents.vendor', 'is not', null), eb('alerts.probe_type', 'in', FALL_TYPES)]))
    .orderBy('incidents.id')
    .execute()
  const looseRows = rows.filter(
    ({ scope, parent_id, confirmed_at, opened_at }) =>
      scope === 'site' && parent_id === null && confirmed_at !== null && opened_at >= now - LOOSE_MS,
  )
  const leads = looseRows.flatMap((row) => (failingOf(row) === FALLS ? (row.lead_id ?? []) : []))
  const noFalls = await noFallsAmong(db, leads)
  const loose = looseRows.flatMap(({ id, site_id, client_id, lead_id, started_at, ...row }): VendorSign[] => {
    const failing = failingOf(row)
    const vendor = failing === FALLS ? OURS : row.vendor
    if (site_id === null || client_id === null || noFalls.has(lead_id ?? '')) return []
    if (vendor === null || started_at === null || failing === null) return []
    const resolutionMs = failing === FALLS ? resolutionOf(row.probe_type ?? '') : 0
    return [
      { incidentId: id, siteId: site_id, clientId: client_id, vendor, failing, startedAt: started_at, resolutionMs },
    ]
  })
  const vendorIds = rows.flatMap(({ scope, id }) => (scope === 'vendor' ? id : []))
  const orphans = rows.filter(({ parent_id }) => parent_id !== null && !vendorIds.includes(parent_id))
  // Only a vendor's incident has parts on several sites.
  const back = [...Map.groupBy(orphans, ({ parent_id }) => parent_id ?? '')]
    .filter(([, parts]) => new Set(parts.map(({ site_id }) => site_id)).size >= LEAST_SITES)
    .map(([id, parts]) => ({ id, partIds: parts.map((part) => part.id) }))
  const open = vendorIds.length === 0 ? [] : await openVendors(db, vendorIds)
  const news = new Set(rows.flatMap(({ id, confirmed_at }) => ((confirmed_at ?? 0) >= now - NEWS_MS ? id : [])))
  const mayBeFound = (signs: readonly VendorSign[]) =>
    [...Map.groupBy(signs, ({ vendor, failing }) => `${vendor} ${failing}`).values()]
      .map(mostTogether)
      .some(
        (together) =>
          together[0] !== undefined &&
          siteCount(together) >= leastFor(together[0]) &&
          together.some(({ incidentId }) => news.has(incidentId)),
      )
  const falls = loose.filter(({ failing }) => failing === FALLS)
  const others = loose.filter(({ failing }) => failing !== FALLS)
  const withTraffic = mayBeFound(falls) ? await sitesWithTraffic(db, mostTogether(falls), now) : []
  const using = mayBeFound(others) ? await sitesByVendor(db, others, now) : () => []
  const sitesOf: VendorState['sitesOf'] = (vendor, failing) =>
    failing === FALLS ? withTraffic : using(vendor, failing)
  return { open, loose, back, sitesOf }
}

/** Of an alert about a vendor, or about all events. About the vendor of a check, only that it does not let the check in is known. */
function failingOf({ probe_type, subject }: { probe_type: string | null; subject: string | null }): string | null {
  if (subject === 'check') return LOCKED_OUT_OF
  const type = probe_type ?? ''
  return subject === WHOLE && FALL_TYPES.includes(type) ? FALLS : (FAILING[type] ?? null)
}

/** Of vendors' incidents whose cause alone says what they are about. */
const BY_CAUSE: Readonly<Record<string, string>> = { own: LOCKED_OUT_OF, silence: FALLS }

async function openVendors(db: Kysely<Tables>, ids: readonly string[]): Promise<VendorState['open']> {
  const rows = await db.selectFrom('incidents').selectAll().where('id', 'in', ids).orderBy('id').execute()
  const parts = await db
    .selectFrom('incidents')
    .leftJoin('alerts', 'alerts.id', 'incidents.lead_alert_id')
    .select([
      'incidents.parent_id',
      'incidents.client_id',
      'incidents.state',
      'incidents.severity',
      'incidents.announced_at',
      'alerts.probe_type',
      'alerts.subject',
    ])
    .where('incidents.parent_id', 'in', ids)
    .execute()
  return rows.flatMap((row) => {
    const own = parts.filter(({ parent_id }) => parent_id === row.id)
    // Other alerts may lead the sites' incidents by now.
    const failing = BY_CAUSE[row.cause] ?? own.map(failingOf).find((one) => one !== null) ?? ''
    const lasting = own.filter(({ state }) => state !== 'resolved')
    const announced = lasting.filter(({ announced_at }) => announced_at !== null).length
    const isCritical = lasting.some(({ severity }) => severity === 'critical')
    const clientIds = new Set(own.flatMap(({ client_id }) => client_id ?? []))
    return row.vendor === null
      ? []
      : [{ row, vendor: row.vendor, failing, lasting: lasting.length, announced, isCritical, clientIds }]
  })
}

/** Whether the operator is to be notified of a vendor's incident: no one was, or there was no channel for it yet. */
export const isUnsaidTo = (
  { globalWebhook }: ChannelSettings,
  { announced_at, last_announced_at }: Pick<IncidentRow, 'announced_at' | 'last_announced_at'>,
): boolean => announced_at === null || (globalWebhook !== null && last_announced_at === null)

/** Returns whether the operator knows of a vendor's incident and was not notified of its end, which came within a silence. */
export async function isEndUnsaid(
  db: Kysely<Tables>,
  { id, announced_at, resolved_at }: Pick<IncidentRow, 'id' | 'announced_at' | 'resolved_at'>,
): Promise<boolean> {
  if (announced_at === null || resolved_at === null) return false
  const silenced = await db
    .selectFrom('incident_events')
    .select('id')
    .where('incident_id', '=', id)
    .where('kind', '=', 'suppressed')
    .where('at', '=', resolved_at)
    .executeTakeFirst()
  return silenced !== undefined
}

/** Returns those of the vendors' incidents that have sites of several clients. */
export async function sharedVendors(db: Kysely<Tables>, ids: readonly string[]): Promise<Set<string>> {
  const shared = new Set<string>()
  for (const chunk of chunksOf([...new Set(ids)])) {
    const rows = await db
      .selectFrom('incidents')
      .select('parent_id')
      .where('parent_id', 'in', chunk)
      .groupBy('parent_id')
      .having(({ fn }) => fn.count('client_id').distinct(), '>', 1)
      .execute()
    for (const { parent_id } of rows) if (parent_id !== null) shared.add(parent_id)
  }
  return shared
}

const TAG_TYPES = Object.keys(FAILING)

/** A site that sent nothing of a vendor's tags for this time does not use it. */
const TAGS_SEEN_MS = 7 * DAY

/** Returns the names of the tags of active sites. */
async function tagsOfSites(db: Kysely<Tables>, now: number): Promise<{ id: string; tag_name: string }[]> {
  const withIds = await db
    .selectFrom('tag_names')
    .innerJoin('sites', 'sites.site_no', 'tag_names.site_no')
    .select(['sites.id', 'tag_names.tag_name'])
    .distinct()
    .where('sites.is_active', '=', 1)
    .where('tag_names.last_seen_at', '>=', now - TAGS_SEEN_MS)
    .execute()
  // Batches name tags but give no ids of them. The names of a day are kept for three days.
  const ofDays = await db
    .selectFrom('daily_names')
    .innerJoin('sites', 'sites.site_no', 'daily_names.site_no')
    .select(['sites.id', 'daily_names.name as tag_name'])
    .distinct()
    .where('sites.is_active', '=', 1)
    .where('daily_names.kind', '=', 'tag')
    .where('daily_names.day', '>=', floorTo(now - TAGS_SEEN_MS, DAY))
    .execute()
  return [...withIds, ...ofDays]
}

/** Returns a lookup of the sites that use a vendor, with how often its tags were bad there. */
async function sitesByVendor(
  db: Kysely<Tables>,
  judged: readonly VendorSign[],
  now: number,
): Promise<VendorState['sitesOf']> {
  const users = new Map<string, Set<string>>()
  const use = (vendor: string, siteId: string) => users.set(vendor, (users.get(vendor) ?? new Set()).add(siteId))
  const tags = await tagsOfSites(db, now)
  const said = await saidOf(
    db,
    tags.map(({ id }) => id),
  )
  for (const { id, tag_name } of tags) {
    const vendor = said(id, tag_name) ?? vendorOf(tag_name)?.id
    if (vendor !== undefined) use(vendor, id)
  }
  for (const { vendor, siteId } of judged) use(vendor, siteId)
  const past = await db
    .selectFrom('alerts')
    .select(['site_id', 'probe_type', 'subject_label', 'incident_id', 'vendor as named'])
    .where('id', '>=', firstIdAt(now - BASE_MS))
    .where('probe_type', 'in', TAG_TYPES)
    .where('subject_label', 'is not', null)
    .execute()
  const isJudged = new Set(judged.map(({ incidentId }) => incidentId))
  const counts = new Map<string, number>()
  for (const { site_id, probe_type, subject_label, incident_id, named } of past) {
    const vendor = named ?? vendorOf(subject_label ?? '')?.id
    if (vendor === undefined || isJudged.has(incident_id ?? '')) continue
    const key = `${site_id} ${vendor} ${FAILING[probe_type]}`
    counts.set(key, (counts.get(key) ?? 0) + 1)
  }
  return (vendor, failing) =>
    Array.from(users.get(vendor) ?? [], (siteId) => ({
      siteId,
      alerts: counts.get(`${siteId} ${vendor} ${failing}`) ?? 0,
    }))
}
