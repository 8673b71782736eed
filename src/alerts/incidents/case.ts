import { sql } from 'kysely'
import { DAY, firstIdAt, newOrderedId } from '../../lib/index.ts'
import {
  type AlertRow,
  chunksOf,
  type IncidentEventRow,
  type IncidentRow,
  type Store,
  type Tables,
  type Transaction,
  unindexed,
} from '../../store/index.ts'
import { RELEASE_MS } from './explain.ts'
import type { OpenIncident, SiteFacts } from './grouping.ts'
import { causeOf, signOf } from './sign.ts'
import { LONGEST_AGAIN_MS } from './steady.ts'

export const INCIDENT_EVENT_KINDS = [
  'opened',
  'joined',
  'explained',
  'belongs',
  'merged',
  'left',
  'escalated',
  'next_on_call',
  'notified',
  'suppressed',
  'critical_only',
  'acknowledged',
  'unacknowledged',
  'noted',
  'resolved',
  'reopened',
] as const

/** An entry of an incident's timeline. */
export interface IncidentEvent {
  kind: (typeof INCIDENT_EVENT_KINDS)[number]
  actor: string | null
  text: string
}

/** An incident while a transaction changes it. */
export interface Case {
  row: IncidentRow
  /** As it was read; null when it is new. */
  before: IncidentRow | null
  /** All of its alerts by id, as they will be after the transaction. */
  alerts: Map<string, AlertRow>
  events: IncidentEvent[]
}

interface CaseQuery {
  incidentIds: readonly string[]
  /** Sites with alerts that are in no incident yet: the incidents that these may join are read too. */
  siteIds: readonly string[]
  now: number
}

/**
 * Reads incidents with their alerts and locks them until the transaction ends. Everyone locks alerts before incidents, and both in
 * the order of their ids, so that two transactions never deadlock.
 */
export async function lockCases(
  trx: Transaction<Tables>,
  { isShared }: Pick<Store, 'isShared'>,
  query: CaseQuery,
): Promise<Map<string, Case>> {
  const ids = new Set(query.incidentIds)
  for (const siteIds of chunksOf(query.siteIds)) {
    // `unindexed` makes the engine start from the few that are unresolved or have just ended.
    const ofSites = trx.selectFrom('incidents').select('id').where(unindexed('site_id'), 'in', siteIds)
    const ended = ofSites.where('resolved_at', '>=', query.now - LONGEST_AGAIN_MS)
    // One statement, because an incident that is resolved or reopened between two would be in neither.
    const rows = await ofSites.where(sql<boolean>`state <> 'resolved'`).unionAll(ended).execute()
    for (const { id } of rows) ids.add(id)
  }
  const cases = new Map<string, Case>()
  for (const chunk of chunksOf([...ids].sort())) {
    const rows = await trx
      .selectFrom('incidents')
      .selectAll()
      .where('id', 'in', chunk)
      .orderBy('id')
      .$if(isShared, (locking) => locking.forUpdate())
      .execute()
    for (const row of rows) cases.set(row.id, { row: { ...row }, before: row, alerts: new Map(), events: [] })
    const alerts = await trx.selectFrom('alerts').selectAll().where('incident_id', 'in', chunk).orderBy('id').execute()
    for (const alert of alerts) cases.get(alert.incident_id ?? '')?.alerts.set(alert.id, alert)
  }
  return cases
}

/** Returns what grouping needs to know about the sites of alerts that have just opened: releases and, for missing tags, the site's tags. */
export async function factsOfSites(
  trx: Transaction<Tables>,
  alerts: readonly Pick<AlertRow, 'site_id' | 'started_at' | 'probe_type'>[],
  now: number,
): Promise<Map<string, SiteFacts>> {
  if (alerts.length === 0) return new Map()
  const since = Math.min(...alerts.map(({ started_at }) => started_at)) - RELEASE_MS
  const siteIds = [...new Set(alerts.map(({ site_id }) => site_id))]
  const facts = new Map<string, SiteFacts>()
  for (const chunk of chunksOf(siteIds)) {
    const markers = await trx
      .selectFrom('deploy_markers')
      .select(['site_id', 'at'])
      .where('site_id', 'in', chunk)
      // Ids begin with the time, and the key is (site, id).
      .where('id', '>=', firstIdAt(since))
      .execute()
    for (const siteId of chunk) {
      const releases = markers.filter(({ site_id }) => site_id === siteId).map(({ at }) => at)
      facts.set(siteId, { now, releases, tags: [] })
    }
  }
  const missing = [...new Set(alerts.flatMap((alert) => (alert.probe_type === 'tag_missing' ? alert.site_id : [])))]
  for (const siteId of missing) {
    const known = facts.get(siteId)
    if (known !== undefined) facts.set(siteId, { ...known, tags: await tagsOf(trx, siteId, now) })
  }
  return facts
}

/** A tag counts as the site's when it was seen within this time: older ones say nothing about how many are missing. */
const TAGS_SEEN_MS = 7 * DAY

async function tagsOf(trx: Transaction<Tables>, siteId: string, now: number): Promise<string[]> {
  const rows = await trx
    .selectFrom('tag_names')
    .innerJoin('sites', 'sites.site_no', 'tag_names.site_no')
    .select('tag_names.tag_name')
    .distinct()
    .where('sites.id', '=', siteId)
    .where('tag_names.last_seen_at', '>=', now - TAGS_SEEN_MS)
    .execute()
  return rows.map(({ tag_name }) => tag_name)
}

export const openIncidentOf = ({ row, alerts }: Case): OpenIncident => ({
  id: row.id,
  cause: causeOf(row.cause),
  causeAt: row.cause_at,
  isAnnounced: row.announced_at !== null,
  resolvedAt: row.resolved_at,
  signs: Array.from(alerts.values(), signOf),
  leadId: row.lead_alert_id,
})

/** Columns that an update must not overwrite. */
const FIXED: readonly (keyof IncidentRow)[] = [
  'id',
  'scope',
  'client_id',
  'site_id',
  'opened_at',
  // Written by `noteDelivered` alone.
  'last_notified_at',
  // Written by `followImpacts` alone.
  'impact',
]

/** Writes incidents and the new entries of their timelines, in the order of their ids. */
export async function saveCases(trx: Transaction<Tables>, cases: Iterable<Case>, now: number): Promise<void> {
  const inOrder = [...cases].sort((a, b) => (a.row.id < b.row.id ? -1 : 1))
  const changed = inOrder.flatMap(({ row, before }) => (isSame(row, before) ? [] : [row]))
  for (const chunk of chunksOf(changed)) {
    const names = Object.keys(chunk[0] ?? {}).filter((name) => !FIXED.some((fixed) => fixed === name))
    await trx
      .insertInto('incidents')
      .values(chunk)
      .onConflict((conflict) =>
        conflict
          .column('id')
          .doUpdateSet(({ ref }) =>
            Object.fromEntries(names.map((name) => [name, ref(`excluded.${name}` as 'excluded.title')])),
          ),
      )
      .execute()
  }
  await writeIncidentEvents(
    trx,
    inOrder.flatMap(({ row, events }) => events.map((event) => ({ incident_id: row.id, ...event }))),
    now,
  )
}

export async function writeIncidentEvents(
  trx: Transaction<Tables>,
  events: readonly (IncidentEvent & Pick<IncidentEventRow, 'incident_id'>)[],
  now: number,
): Promise<void> {
  const rows = events.map((event) => ({ id: newOrderedId(now), at: now, ...event }))
  for (const chunk of chunksOf(rows)) await trx.insertInto('incident_events').values(chunk).execute()
}

const isSame = (row: IncidentRow, before: IncidentRow | null): boolean =>
  before !== null && Object.entries(row).every(([name, value]) => before[name as keyof IncidentRow] === value)

/** Returns the probes of these incidents' unresolved alerts. */
export async function probesOfIncidents(trx: Transaction<Tables>, incidentIds: readonly string[]): Promise<string[]> {
  const probeIds = new Set<string>()
  for (const ids of chunksOf(incidentIds)) {
    const rows = await trx
      .selectFrom('alerts')
      .select('probe_id')
      .distinct()
      .where('incident_id', 'in', ids)
      .where('state', '<>', 'resolved')
      .execute()
    for (const { probe_id } of rows) probeIds.add(probe_id)
  }
  return [...probeIds].sort()
}
