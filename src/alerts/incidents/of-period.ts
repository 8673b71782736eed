import { sql } from 'kysely'
import { vendorName } from '../../analytics/index.ts'
import type { Visible } from '../../http/index.ts'
import { quoted } from '../../lib/index.ts'
import { briefOnes, DIGEST_INCIDENTS, type DigestIncident, type DigestMessage } from '../../notifications/index.ts'
import { chunksOf, type Kysely, type Tables } from '../../store/index.ts'
import { severityOf } from '../alert-record.ts'
import { lossAndValue } from './impact-value.ts'
import { OWNER, openIncidents, summariesOf, withoutParts } from './reach.ts'
import { type IncidentSummary, impactIn } from './records.ts'
import { type Cause, causeOf } from './sign.ts'

/**
 * Returns the client's incidents that were unresolved at some time in the period, for a digest: active sites only, unresolved ones
 * first, of these the critical ones, then the newest first. Incidents that no one was notified of say why. Only the first `DIGEST_INCIDENTS` are listed;
 * `counts` counts all. Left out are incidents that ended before any alert was confirmed and those that another one of them
 * explains.
 *
 * @param period half-open, epoch ms
 */
export async function incidentsOfPeriod(
  db: Kysely<Tables>,
  clientId: string,
  { from, to }: { from: number; to: number },
): Promise<Required<Pick<DigestMessage, 'incidents' | 'counts'>>> {
  const found = await db
    .selectFrom('incidents')
    .innerJoin('sites', 'sites.id', 'incidents.site_id')
    .select(['incidents.id', 'incidents.parent_id', 'incidents.resolved_at'])
    .where('incidents.client_id', '=', clientId)
    .where('sites.is_active', '=', 1)
    .where('incidents.opened_at', '<', to)
    .where(({ eb, or }) => or([eb('incidents.resolved_at', 'is', null), eb('incidents.resolved_at', '>=', from)]))
    .where(({ eb, or }) => or([eb('incidents.resolved_at', 'is', null), HAS_CONFIRMED_ALERT]))
    .orderBy((eb) => eb.case().when('incidents.resolved_at', 'is', null).then(0).else(1).end())
    // The worst of what lasts, which the list must not cut off.
    .orderBy(({ eb, and, or }) => {
      const isCritical = or([
        eb('incidents.severity', '=', 'critical'),
        eb('incidents.notified_severity', '=', 'critical'),
      ])
      return eb
        .case()
        .when(and([eb('incidents.resolved_at', 'is', null), isCritical]))
        .then(0)
        .else(1)
        .end()
    })
    .orderBy('incidents.id', 'desc')
    .execute()
  const all = withoutParts(found, found)
  const counts = {
    incidents: all.length,
    unresolved: all.filter(({ resolved_at }) => resolved_at === null).length,
  }
  const listed = all.slice(0, DIGEST_INCIDENTS).map(({ id }) => id)
  if (listed.length === 0) return { incidents: [], counts }
  const details = await db
    .selectFrom('incidents')
    .innerJoin('sites', 'sites.id', 'incidents.site_id')
    .leftJoin('alerts as voice', 'voice.id', 'incidents.announced_alert_id')
    .leftJoin('incidents as parent', 'parent.id', 'incidents.parent_id')
    .select(['incidents.id', 'incidents.title', 'incidents.cause', 'incidents.severity', 'incidents.notified_severity'])
    .select(['incidents.started_at', 'incidents.resolved_at', 'incidents.impact', 'sites.name as site'])
    .select([
      'incidents.announced_alert_id',
      'voice.first_notified_at',
      'parent.title as parent_title',
      'parent.scope as parent_scope',
    ])
    .select('parent.vendor as parent_vendor')
    .where('incidents.id', 'in', listed)
    .execute()
  const rows = details.toSorted((a, b) => listed.indexOf(a.id) - listed.indexOf(b.id))
  const unnotified = rows.filter(({ first_notified_at }) => first_notified_at === null)
  const reasons = await whyUnnotified(
    db,
    unnotified.map(({ id }) => id),
  )
  const brief = await briefOnes(
    db,
    unnotified.flatMap(({ announced_alert_id }) => announced_alert_id ?? []),
  )
  const whyOf = ({ id, announced_alert_id, resolved_at }: (typeof rows)[number]) =>
    reasons.get(id) ??
    (brief.has(announced_alert_id ?? '')
      ? 'not notified: the warning did not last'
      : `not notified${resolved_at === null ? ' yet' : ''}`)
  const incidents = rows.map((row): DigestIncident => {
    const { id, site, title, cause, started_at, resolved_at } = row
    const impact = impactIn(row.impact)
    return {
      id,
      site,
      // It was at some time as bad as people were notified.
      severity: row.notified_severity === 'critical' ? 'critical' : severityOf(row),
      title,
      cause: row.parent_title === null ? CAUSE_WORDS[causeOf(cause)] : explanationOf(row),
      began_at: started_at,
      resolved_at,
      impact: impact === null ? null : lossAndValue(impact),
      unnotified: row.first_notified_at !== null ? null : whyOf(row),
    }
  })
  return { incidents, counts }
}

/** One of its alerts had as many bad results in a row as its probe wants before a message. */
const HAS_CONFIRMED_ALERT = sql<boolean>`exists (select 1 from alerts
  where alerts.incident_id = incidents.id and alerts.confirmed_at is not null)`

/** What happened since some time: unresolved incidents first, then the latest first. */
export interface Lately {
  opened: number
  resolved: number
  open: number
  incidents: IncidentSummary[]
}

/** Incidents shown: a bad night has hundreds, and the inbox has them all. */
const MOST_SHOWN = 50

/**
 * Returns the incidents that were opened or resolved since `since`, and the unresolved ones, for a look in the morning: active
 * sites only, without those that ended before they were confirmed and those that another one explains. Vendors' incidents are
 * included only when `clients` is null.
 *
 * @param since epoch ms
 */
export async function incidentsSince(db: Kysely<Tables>, clients: Visible, since: number): Promise<Lately> {
  const lasting = await openIncidents(db, clients)
  let query = db
    .selectFrom('incidents')
    .leftJoin('sites', 'sites.id', 'incidents.site_id')
    .leftJoin('clients', 'clients.id', 'incidents.client_id')
    .select(['incidents.id', 'incidents.parent_id', 'incidents.opened_at', 'incidents.resolved_at'])
    .where('incidents.state', '=', 'resolved')
    .where('incidents.resolved_at', '>=', since)
    .where(({ eb, and, or }) =>
      or([
        eb('incidents.scope', '=', 'vendor'),
        and([eb('sites.is_active', '=', 1), eb('clients.is_active', '=', 1), HAS_CONFIRMED_ALERT]),
      ]),
    )
  if (clients !== null) query = query.where(OWNER, 'in', [...clients])
  // Sorted here, because ordered by id SQLite reads all incidents that ever ended.
  const over = (await query.execute()).toSorted((a, b) => (a.id < b.id ? 1 : -1))
  const resolved = withoutParts(over, [...lasting, ...over])
  const shown = resolved.slice(0, Math.max(0, MOST_SHOWN - lasting.length)).map(({ id }) => id)
  const rows =
    shown.length === 0
      ? []
      : await db.selectFrom('incidents').selectAll().where('id', 'in', shown).orderBy('id', 'desc').execute()
  return {
    opened: [...lasting, ...resolved].filter(({ opened_at }) => opened_at >= since).length,
    resolved: resolved.length,
    open: lasting.length,
    incidents: await summariesOf(db, [...lasting, ...rows].slice(0, MOST_SHOWN), clients),
  }
}

const CAUSE_WORDS: Readonly<Record<Cause, string | null>> = {
  own: 'the check itself',
  server: 'tag server',
  release: 'new version',
  consent: 'consent platform',
  silence: 'nothing arrives',
  event: 'an event',
  tag: 'a tag',
  quality: 'quality of data',
  other: null,
}

/** Returns the cause of an incident that another one explains. */
function explanationOf(row: {
  parent_scope: string | null
  parent_vendor: string | null
  parent_title: string | null
}): string {
  const { parent_scope, parent_vendor, parent_title } = row
  return parent_scope === 'vendor' && parent_vendor !== null
    ? `probably ${vendorName(parent_vendor)}, on other sites too`
    : quoted(parent_title ?? '')
}

/** Returns by incident id what held its message back. */
async function whyUnnotified(db: Kysely<Tables>, ids: readonly string[]): Promise<Map<string, string>> {
  const reasons = new Map<string, string>()
  for (const chunk of chunksOf(ids)) {
    const unheard = await db
      .selectFrom('incident_events')
      .select('incident_id')
      .where('incident_id', 'in', chunk)
      .where('kind', '=', 'critical_only')
      .execute()
    for (const { incident_id } of unheard) {
      reasons.set(incident_id, 'not notified: every channel takes critical alerts only')
    }
    const rows = await db
      .selectFrom('alerts')
      .select(['incident_id', 'suppressed_by'])
      .where('incident_id', 'in', chunk)
      .where('suppressed_by', 'is not', null)
      .execute()
    for (const { incident_id, suppressed_by } of rows) {
      const reason = REASONS[suppressed_by?.split(':', 1)[0] ?? '']
      if (incident_id !== null && reason !== undefined) reasons.set(incident_id, `not notified: ${reason}`)
    }
  }
  return reasons
}

const REASONS: Readonly<Record<string, string>> = {
  silence: 'silenced',
  maintenance: 'maintenance',
  no_channel: 'no working channel',
  quota: 'the message about the quota covers it',
}
