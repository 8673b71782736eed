import { sql } from 'kysely'
import { type Static, Type } from 'typebox'
import { AlertRecord, type Planned, plannedMaintenance, withoutParts } from '../alerts/index.ts'
import { IsoTime, model, nullable, Uuid } from '../http/index.ts'
import { DAY, isoTime, isoTimeOrNull } from '../lib/index.ts'
import { chunksOf, type Kysely, type Tables } from '../store/index.ts'

const HISTORY_DAYS = 90
/** Incidents on a page: no one reads more. */
const MOST_INCIDENTS = 100
/** Incidents read, as some are parts of others and are left out. */
const MOST_READ = 1_000
/** How far ahead maintenance is announced, ms. */
export const AHEAD_MS = 14 * DAY

export const PastIncident = model('PastIncident', {
  id: Type.Unsafe<string>({ ...Uuid, description: "Opens the incident's page under this link, and nothing else" }),
  site: Type.String({ description: 'Its name' }),
  timezone: Type.String({ description: "The site's, an IANA name" }),
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

/** Without its title, which is internal. */
export const PlannedMaintenance = model('PlannedMaintenance', {
  site: nullable(Type.String({ description: 'Name of the site; null: all sites' })),
  starts_at: IsoTime,
  ends_at: IsoTime,
})
export type PlannedMaintenance = Static<typeof PlannedMaintenance>

/** The fields of a site that anyone with the link may know. */
interface NamedSite {
  id: string
  name: string
  timezone: string
}

/** Returns a client's sites, paused ones too. */
export const namedSites = (db: Kysely<Tables>, clientId: string): Promise<NamedSite[]> =>
  db.selectFrom('sites').select(['id', 'name', 'timezone']).where('client_id', '=', clientId).execute()

interface ShownIncident extends Omit<PastIncident, 'back_at'> {
  site_id: string
  parent_id: string | null
  /** When the page began to show it, epoch ms. */
  shownAt: number
}

/**
 * When an incident begins to be shown: when it was confirmed. If maintenance or a silence held its message back at first, only when
 * someone was notified, or when there was no one to notify. An alert that another alert of the incident speaks for does not count,
 * because it may have been silenced before. Messages that were given up clear when an alert was announced, not when its incident was.
 */
const shownAt = sql`(select min(case when a.told_at > a.confirmed_at then a.told_at else a.confirmed_at end)
  from (select said.*, coalesce((select min(e.at) from alert_events as e where e.alert_id = said.id and e.kind = 'unreachable'
    and (said.said_at is null or e.at < said.said_at)), said.said_at) as told_at
    from (select alerts.*, coalesce(
      case when alerts.id = coalesce(incidents.announced_alert_id, incidents.lead_alert_id) then incidents.announced_at end,
      alerts.announced_at) as said_at from alerts where alerts.incident_id = incidents.id) as said) as a
  where (a.told_at is not null or a.suppressed_by is null
    or (a.suppressed_by not like 'maintenance:%' and a.suppressed_by not like 'silence:%'
      and a.suppressed_by <> 'incident:' || incidents.id)))`

/**
 * Returns the incidents of a client's sites that were unresolved at some time since then: unresolved ones first, then the newest
 * first. Left out are incidents that ended before they were confirmed, or before the end of the maintenance or silence that they
 * began in, and checks of ours that cannot run, which do not concern people with the link.
 *
 * @param sites the sites whose incidents may be shown
 * @param since epoch ms
 * @param most returns at most this many, of active sites; without it all
 */
export async function shownIncidents(
  db: Kysely<Tables>,
  clientId: string,
  sites: readonly NamedSite[],
  since: number,
  most?: number,
): Promise<ShownIncident[]> {
  const known = new Map(sites.map((site) => [site.id, site]))
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
    // The site was added or paused after the sites were read.
    const site = known.get(site_id ?? '')
    if (site === undefined || site_id === null) return []
    return [
      {
        id,
        site: site.name,
        timezone: site.timezone,
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
 * Returns the incidents of 90 days for the page and its feed, the newest first. If there are too many, it keeps the unresolved ones
 * and the newest. Incidents that another one explains are left out: they are on that one's page.
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
  // Ids begin with the time at which an incident was opened.
  const incidents = shown.toSorted((a, b) => (a.id < b.id ? 1 : -1))
  return { incidents, has_older_incidents: found.length > MOST_INCIDENTS || read.length === MOST_READ }
}

/** An incident ended, or was back after an end. Times are epoch ms. */
export interface Turn {
  kind: 'back' | 'resolved'
  /** When it was written to the timeline. An end may be earlier, when what kept the incident open turned out to be another problem. */
  at: number
  /** The time that the page shows. */
  saidAt: number
}

/** Returns, by id, when the incidents ended and were back, the oldest first. */
export async function turnsOf(db: Kysely<Tables>, shown: readonly ShownIncident[]): Promise<Map<string, Turn[]>> {
  const turns = new Map<string, Turn[]>()
  for (const incidents of chunksOf(shown)) {
    const ends = new Map(incidents.map(({ id, resolved_at }) => [id, resolved_at]))
    const rows = await db
      .selectFrom('incident_events')
      .select(['incident_id', 'at', 'kind'])
      .where('incident_id', 'in', [...ends.keys()])
      .where('kind', 'in', ['resolved', 'reopened'])
      .orderBy('id')
      .execute()
    for (const { incident_id, at, kind } of rows) {
      const end = ends.get(incident_id) ?? null
      const turn: Turn =
        kind === 'resolved'
          ? { kind, at, saidAt: end === null ? at : Math.min(at, Date.parse(end)) }
          : { kind: 'back', at, saidAt: at }
      turns.set(incident_id, [...(turns.get(incident_id) ?? []), turn])
    }
  }
  return turns
}

/** Returns maintenance under way or planned for the next two weeks, the nearest first. */
export const maintenanceAhead = (
  db: Kysely<Tables>,
  clientId: string,
  sites: readonly NamedSite[],
  now: number,
): Promise<Planned[]> => plannedMaintenance(db, { clientId, siteIds: sites.map(({ id }) => id) }, now, now + AHEAD_MS)
