import { sql } from 'kysely'
import { type Static, Type } from 'typebox'
import { AlertRecord, type Planned, plannedMaintenance, saysBack, withoutParts } from '../alerts/index.ts'
import { IsoTime, nullable, Uuid } from '../http/index.ts'
import { DAY, isoTime, isoTimeOrNull } from '../lib/index.ts'
import { chunksOf, type Kysely, type Tables } from '../store/index.ts'

export const HISTORY_DAYS = 90
/** No one reads more of them on a page. */
const MOST_INCIDENTS = 100
/** Of which some are parts of others. */
const MOST_READ = 1_000
/** How far ahead planned work is announced, ms. */
const AHEAD_MS = 14 * DAY

export const PastIncident = Type.Object({
  id: Type.Unsafe<string>({ ...Uuid, description: 'Opens its page under this link, and nothing else' }),
  site: Type.String({ description: 'Its name' }),
  title: Type.String(),
  severity: AlertRecord.properties.severity,
  started_at: IsoTime,
  opened_at: IsoTime,
  resolved_at: nullable(IsoTime),
  back_at: nullable(
    Type.Unsafe<string>({
      ...IsoTime,
      description: 'When it returned the last time after it had ended; null: it has not, or has ended since',
    }),
  ),
})
export type PastIncident = Static<typeof PastIncident>

/** What people called it is theirs. */
export const PlannedMaintenance = Type.Object({
  site: nullable(Type.String({ description: 'Its name; null: of all sites' })),
  starts_at: IsoTime,
  ends_at: IsoTime,
})
export type PlannedMaintenance = Static<typeof PlannedMaintenance>

/** Where an incident is: what of a site everyone may know who has the link. */
interface NamedSite {
  id: string
  name: string
}

interface ShownIncident extends Omit<PastIncident, 'back_at'> {
  site_id: string
  parent_id: string | null
  /** When it could first be seen, epoch ms. */
  shownAt: number
}

/**
 * Since when an incident is shown: since it was confirmed, and where no one was notified of it at first, as work was planned or it was silenced, since
 * someone was, or no one could be. An alert that another one of it speaks for says nothing of that: it may have been silenced before.
 */
const shownAt = sql`(select min(case when a.told_at > a.confirmed_at then a.told_at else a.confirmed_at end)
  from (select alerts.*, coalesce((select min(e.at) from alert_events as e where e.alert_id = alerts.id and e.kind = 'unreachable'
    and (announced_at is null or e.at < announced_at)), announced_at) as told_at
    from alerts where alerts.incident_id = incidents.id) as a
  where (a.announced_at is not null or a.suppressed_by is null
    or (a.suppressed_by not like 'maintenance:%' and a.suppressed_by not like 'silence:%'
      and a.suppressed_by <> 'incident:' || incidents.id)))`

/**
 * The incidents of a client's sites that lasted at some time since then: those that still do first, and each kind newest first. Left out is what was over before
 * it was confirmed, or before the planned work or the silence that it began in, and that a check of ours could not run, which is no business of who has the link.
 *
 * @param sites those that they may be of
 * @param since epoch ms
 * @param most of active sites; without it all of them
 */
export async function shownIncidents(
  db: Kysely<Tables>,
  clientId: string,
  sites: readonly NamedSite[],
  since: number,
  most?: number,
): Promise<ShownIncident[]> {
  const names = new Map(sites.map(({ id, name }) => [id, name]))
  const rows = await db
    .selectFrom('incidents')
    .leftJoin('alerts as lead', 'lead.id', 'incidents.lead_alert_id')
    .select(['incidents.id', 'incidents.site_id', 'incidents.parent_id', 'incidents.title', 'incidents.severity'])
    .select(['incidents.started_at', 'incidents.opened_at', 'incidents.resolved_at'])
    .select(sql<number | null>`${shownAt}`.as('shown_at'))
    .where('incidents.client_id', '=', clientId)
    .where('incidents.cause', '<>', 'own')
    .where(({ eb, or }) => or([eb('lead.subject', 'is', null), eb('lead.subject', '<>', 'check')]))
    .where(sql<boolean>`${shownAt} is not null`)
    .where(({ eb, or }) => or([eb('incidents.resolved_at', 'is', null), eb('incidents.resolved_at', '>=', since)]))
    .orderBy((eb) => eb.case().when('incidents.resolved_at', 'is', null).then(0).else(1).end())
    .orderBy('incidents.id', 'desc')
    .$if(most !== undefined, (all) =>
      all
        .where(
          'incidents.site_id',
          'in',
          db.selectFrom('sites').select('sites.id').where('client_id', '=', clientId).where('is_active', '=', 1),
        )
        .limit(most ?? 0),
    )
    .execute()
  return rows.flatMap((row) => {
    const { id, site_id, parent_id, title, severity, started_at, opened_at, resolved_at, shown_at } = row
    // Added, or switched off, since the sites were read.
    const site = names.get(site_id ?? '')
    if (site === undefined || site_id === null) return []
    return [
      {
        id,
        site,
        site_id,
        parent_id,
        title,
        severity: severity === 'critical' ? ('critical' as const) : ('warning' as const),
        started_at: isoTime(started_at),
        opened_at: isoTime(opened_at),
        resolved_at: isoTimeOrNull(resolved_at),
        shownAt: Number(shown_at),
      },
    ]
  })
}

/**
 * The same of 90 days, as the page and its feed have it: the newest first, and of too many those that last and the newest. What another one of them explains
 * is on the page of that one.
 */
export async function pastIncidents(
  db: Kysely<Tables>,
  clientId: string,
  sites: readonly NamedSite[],
  now: number,
): Promise<{ incidents: PastIncident[]; has_older_incidents: boolean }> {
  const read = await shownIncidents(db, clientId, sites, now - HISTORY_DAYS * DAY, MOST_READ)
  const found = withoutParts(read, read)
  const listed = found.slice(0, MOST_INCIDENTS)
  const turns = await turnsOf(db, listed)
  const shown = listed.map(({ shownAt: _, site_id: __, parent_id: ___, ...incident }) => {
    const last = turns.get(incident.id)?.at(-1)
    return { ...incident, back_at: last?.kind === 'back' ? isoTime(last.saidAt) : null }
  })
  // Ids begin with the time an incident was opened.
  const incidents = shown.toSorted((a, b) => (a.id < b.id ? 1 : -1))
  return { incidents, has_older_incidents: found.length > MOST_INCIDENTS || read.length === MOST_READ }
}

/** Since when those of them that another of them explains are parts of it, epoch ms, by id. */
export async function partsSince(db: Kysely<Tables>, shown: readonly ShownIncident[]): Promise<Map<string, number>> {
  const known = new Set(shown.map(({ id }) => id))
  const parts = shown.filter(({ parent_id }) => known.has(parent_id ?? '')).map(({ id }) => id)
  const since = new Map<string, number>()
  for (const ids of chunksOf(parts)) {
    const rows = await db
      .selectFrom('incident_events')
      .select(['incident_id', 'at'])
      .where('incident_id', 'in', ids)
      .where('kind', '=', 'belongs')
      .orderBy('id')
      .execute()
    for (const { incident_id, at } of rows) since.set(incident_id, at)
  }
  return since
}

/** That an incident ended, or was back after an end. Times in epoch ms. */
export interface Turn {
  kind: 'back' | 'resolved'
  /** When it was written down: an end may lie before, where what kept the incident open turned out to be something else. */
  at: number
  /** What the page says of it. */
  saidAt: number
}

/** When those of them ended, and were back, by id; the oldest first. */
export async function turnsOf(db: Kysely<Tables>, shown: readonly ShownIncident[]): Promise<Map<string, Turn[]>> {
  const turns = new Map<string, Turn[]>()
  for (const incidents of chunksOf(shown)) {
    const rows = await db
      .selectFrom('incident_events')
      .innerJoin('incidents', 'incidents.id', 'incident_events.incident_id')
      .select(['incident_id', 'at', 'kind', 'text', 'resolved_at'])
      .where(
        'incident_id',
        'in',
        incidents.map(({ id }) => id),
      )
      .where('kind', 'in', ['resolved', 'joined'])
      .orderBy('incident_events.id')
      .execute()
    for (const { incident_id, at, kind, text, resolved_at } of rows) {
      const of = turns.get(incident_id) ?? []
      const isOver = of.at(-1)?.kind === 'resolved'
      turns.set(incident_id, of)
      if (kind === 'resolved') of.push({ kind, at, saidAt: Math.min(at, resolved_at ?? at) })
      // What joins it after its end, and is found late, does not bring it back.
      else if (isOver && saysBack(text)) of.push({ kind: 'back', at, saidAt: at })
    }
  }
  return turns
}

/** Work under way and planned for the next two weeks, the nearest first. */
export const maintenanceAhead = (
  db: Kysely<Tables>,
  clientId: string,
  sites: readonly NamedSite[],
  now: number,
): Promise<Planned[]> => plannedMaintenance(db, { clientId, siteIds: sites.map(({ id }) => id) }, now, now + AHEAD_MS)
