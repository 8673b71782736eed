import { firstIdAt, HOUR } from '../../lib/index.ts'
import { lastEventTimes } from '../../management/index.ts'
import { type ChannelSettings, isWorking, offChannels } from '../../notifications/index.ts'
import { WHOLE } from '../../probes/index.ts'
import { chunksOf, type Kysely, type Tables } from '../../store/index.ts'
import { BASE_MS, LATE_MS, type VendorSign, type VendorSite } from './across-sites.ts'
import { FALL_TYPES, refusedFor, signOf } from './sign.ts'

/** Only a site that sent an event within this time before a fall could show it: others are asleep. */
const TRAFFIC_MS = HOUR

/** Fewer clients do not hold back messages of each other: a sender that controls its own sites could delay those of one other. */
const LEAST_CLIENTS = 3

/** Refusals that are neither ours nor the network's. All sites of a client share its quota. */
const OF_CLIENT: readonly unknown[] = ['quota', 'key_revoked']

/**
 * Returns those of the sites' falls that are none: too many events, few of one event only, or requests refused for the client's reason.
 *
 * @param leads ids of the alerts that lead incidents
 */
export async function noFallsAmong(db: Kysely<Tables>, leads: readonly string[]): Promise<Set<string>> {
  const noFalls = new Set<string>()
  for (const ids of chunksOf(leads)) {
    const alerts = await db.selectFrom('alerts').selectAll().where('id', 'in', ids).execute()
    for (const alert of alerts) {
      const { kind, isSurge } = signOf(alert)
      if (isSurge || kind !== 'silence' || OF_CLIENT.includes(refusedFor(alert))) noFalls.add(alert.id)
    }
  }
  return noFalls
}

/** Returns the active sites whose events are watched and that had traffic to lose, with how often it fell in the last 30 days. */
export async function sitesWithTraffic(
  db: Kysely<Tables>,
  falls: readonly VendorSign[],
  now: number,
): Promise<VendorSite[]> {
  const watched = await db
    .selectFrom('sites')
    .innerJoin('clients', 'clients.id', 'sites.client_id')
    .innerJoin('probes', 'probes.site_id', 'sites.id')
    .select(['sites.id', 'sites.site_no', 'sites.client_id'])
    .distinct()
    .where('sites.is_active', '=', 1)
    .where('clients.is_active', '=', 1)
    .where('probes.is_active', '=', 1)
    .where('probes.probe_type', 'in', FALL_TYPES)
    .execute()
  const since = Math.min(...falls.map(({ startedAt }) => startedAt)) - TRAFFIC_MS
  const last = await lastEventTimes(db)
  const heard = watched.filter(({ site_no }) => (last.get(site_no) ?? 0) >= since)
  const able = new Map([
    ...falls.map(({ siteId, clientId }) => [siteId, clientId] as const),
    ...heard.map(({ id, client_id }) => [id, client_id] as const),
  ])
  const past = await db
    .selectFrom('alerts')
    .select(['site_id', 'incident_id'])
    .where('id', '>=', firstIdAt(now - BASE_MS))
    .where('probe_type', 'in', FALL_TYPES)
    .where('subject', '=', WHOLE)
    .execute()
  const judged = new Set<string | null>(falls.map(({ incidentId }) => incidentId))
  const counts = new Map<string, number>()
  for (const { site_id, incident_id } of past) {
    if (!judged.has(incident_id)) counts.set(site_id, (counts.get(site_id) ?? 0) + 1)
  }
  return Array.from(able, ([siteId, clientId]) => ({ siteId, clientId, alerts: counts.get(siteId) ?? 0 }))
}

/**
 * Returns until when clients' messages about sites of these shared incidents are held back, epoch ms; those that hold back nothing are
 * missing. A fall of so many sites is for the operator, who is notified at once; what lasts longer reaches the clients all the same.
 * Without a channel of the operator that works nothing is held back.
 */
export async function holdsOf(
  db: Kysely<Tables>,
  ids: readonly string[],
  { globalWebhook }: Pick<ChannelSettings, 'globalWebhook'>,
  now: number,
): Promise<ReadonlyMap<string, number>> {
  const holds = new Map<string, number>()
  if (globalWebhook === null) return holds
  for (const chunk of chunksOf([...new Set(ids)])) {
    const rows = await db
      .selectFrom('incidents as shared')
      .innerJoin('incidents as part', 'part.parent_id', 'shared.id')
      .select(['shared.id', 'shared.opened_at'])
      .where('shared.id', 'in', chunk)
      .where('shared.scope', '=', 'vendor')
      .where('shared.cause', '=', 'silence')
      .where('shared.state', '<>', 'resolved')
      .where('shared.opened_at', '>', now - LATE_MS)
      .groupBy(['shared.id', 'shared.opened_at'])
      .having(({ fn }) => fn.count('part.client_id').distinct(), '>=', LEAST_CLIENTS)
      .execute()
    for (const { id, opened_at } of rows) holds.set(id, opened_at + LATE_MS)
  }
  if (holds.size === 0) return holds
  const isOn = isWorking(await offChannels(db))({ key: 'global', address: globalWebhook })
  return isOn ? holds : new Map()
}
