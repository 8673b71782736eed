import { vendorName } from '../../analytics/index.ts'
import { readDowntime } from '../../cluster/index.ts'
import { DEFAULT_PAGE, idBefore, type Page, pageOf, type Visible } from '../../http/index.ts'
import { firstIdAt, isoTime, isoTimeOrNull, notFound } from '../../lib/index.ts'
import { deliveriesOf } from '../../notifications/index.ts'
import type { AlertRow, IncidentEventRow, IncidentRow, Store } from '../../store/index.ts'
import { changeInWords, changesBefore, httpStatusIn } from '../alert-message.ts'
import { alertRecord } from '../alert-record.ts'
import { asksForLasting, clientColumn, endBefore, endedBefore } from '../last-ended.ts'
import { endsOfTimeline } from '../timeline.ts'
import { type Change, evidenceOf, type Known, strongestCause } from './evidence.ts'
import { LASTS, oneSummary, summariesOf } from './reach.ts'
import { type IncidentQuery, type IncidentSummary, incidentEntry, incidentRecord, noteRecord } from './records.ts'
import { signOf } from './sign.ts'
import { sharedVendors } from './vendor-reads.ts'

/**
 * Returns a page of incidents, newest first or, ordered by end, the last resolved first. Vendors' incidents belong to no client:
 * only callers who see every client see them.
 *
 * @throws AppError `invalid_request` when `before` is neither an id nor a time
 */
export async function listIncidents(
  { read }: Pick<Store, 'read'>,
  visible: Visible,
  query: IncidentQuery,
): Promise<Page<IncidentSummary>> {
  const { client_id, site_id, state, severity, scope, resolved, since, before, order, limit = DEFAULT_PAGE } = query
  const lasts = asksForLasting(query)
  let rows = read
    .selectFrom('incidents')
    .selectAll()
    .$if(order === 'resolved', (all) => all.where('resolved_at', 'is not', null).orderBy('resolved_at', 'desc'))
    .orderBy('id', 'desc')
    // An unresolved incident has no end to order by.
    .limit(lasts && order === 'resolved' ? 0 : limit + 1)
  const client = clientColumn(lasts)
  if (visible !== null) rows = rows.where(client, 'in', [...visible])
  if (client_id !== undefined) rows = rows.where(client, '=', client_id)
  if (site_id !== undefined) rows = rows.where('site_id', '=', site_id)
  if (state !== undefined) rows = rows.where('state', '=', state)
  if (severity !== undefined) rows = rows.where('severity', '=', severity)
  if (scope !== undefined) rows = rows.where('scope', '=', scope)
  if (resolved === true) rows = rows.where('state', '=', 'resolved')
  // Redundant beside `state = 'open'`, but it lets the engine use the small index of unresolved incidents.
  if (lasts) rows = rows.where(LASTS)
  // Ids begin with the time at which an incident was opened.
  if (since !== undefined) rows = rows.where('id', '>=', firstIdAt(Date.parse(since)))
  const find = (id: string) =>
    read.selectFrom('incidents').select(['client_id', 'resolved_at']).where('id', '=', id).executeTakeFirst()
  if (before !== undefined) {
    rows =
      order === 'resolved'
        ? rows.where(endedBefore(await endBefore(before, 'an incident', visible, find)))
        : rows.where('id', '<', idBefore(before, 'an incident'))
  }
  const page = pageOf(await rows.execute(), limit, ({ id }) => id)
  return { ...page, entries: await summariesOf(read, page.entries, visible) }
}

/** Alerts in one response: a vendor's incident may have thousands. */
const ALERTS_MAX = 500

/**
 * Returns an incident with its alerts, why they are one, its timeline, its notes and the messages about it.
 *
 * @param seesSecrets whether the caller may see the addresses that messages went to
 * @param seesVendors whether the caller may see vendors' incidents, which belong to no client; if not, none is named as `parent_id`
 * @throws AppError `not_found`
 */
export async function readIncident(store: Pick<Store, 'read'>, id: string, seesSecrets: boolean, seesVendors = true) {
  const { read } = store
  const row = await read.selectFrom('incidents').selectAll().where('id', '=', id).executeTakeFirst()
  if (row === undefined) throw notFound('Incident')
  const [parts, { lines, leftOut }, notes, deliveries, down] = await Promise.all([
    read.selectFrom('incidents').selectAll().where('parent_id', '=', id).orderBy('id').execute(),
    timelineOf(store, id),
    read.selectFrom('incident_notes').selectAll().where('incident_id', '=', id).orderBy('id').execute(),
    row.announced_alert_id === null ? [] : deliveriesOf(store, row.announced_alert_id, seesSecrets),
    readDowntime(read, row.started_at, row.resolved_at ?? Number.MAX_SAFE_INTEGER),
  ])
  const alerts = await alertsOf(store, [row, ...parts])
  const change = await changeBefore(store, row, alerts)
  const vendor = await vendorsIncident(store, row.parent_id)
  const known = await knownOf(store, row, vendor, alerts, lines, change?.marker ?? null)
  const cause = strongestCause(known)
  return {
    ...(await oneSummary(read, vendor === undefined || seesVendors ? row : { ...row, parent_id: null })),
    likely_cause: cause?.text ?? null,
    likely_cause_kind: cause?.kind ?? null,
    evidence: evidenceOf(known),
    change: change === null ? null : changeInWords(change.marker, change.startedAt),
    change_at: isoTimeOrNull(change?.marker.at ?? null),
    down_ms: down,
    timeline: lines.map(incidentEntry),
    timeline_left_out: leftOut,
    alerts: alerts.map(alertRecord),
    affected: await affectedBy(store, alerts),
    parts: parts.map(incidentRecord),
    notes: notes.map(noteRecord),
    deliveries,
  }
}

function timelineOf({ read }: Pick<Store, 'read'>, id: string) {
  const events = read.selectFrom('incident_events').where('incident_id', '=', id)
  return endsOfTimeline(
    (order, limit) => events.selectAll().orderBy('id', order).limit(limit).execute(),
    () => events.select(({ fn }) => fn.countAll<number>().as('count')).executeTakeFirstOrThrow(),
  )
}

const alertsOf = ({ read }: Pick<Store, 'read'>, incidents: readonly IncidentRow[]): Promise<AlertRow[]> =>
  read
    .selectFrom('alerts')
    .selectAll()
    .where(
      'incident_id',
      'in',
      incidents.map(({ id }) => id),
    )
    .orderBy('id')
    .limit(ALERTS_MAX)
    .execute()

/** Timeline entries that say why an alert or incident was grouped. */
const EVIDENCE: readonly string[] = ['joined', 'explained', 'belongs', 'reopened']

const vendorsIncident = ({ read }: Pick<Store, 'read'>, id: string | null) =>
  read
    .selectFrom('incidents')
    .select(['id', 'vendor'])
    .where('id', '=', id ?? '')
    .where('scope', '=', 'vendor')
    .executeTakeFirst()

async function knownOf(
  { read }: Pick<Store, 'read'>,
  row: IncidentRow,
  parent: Pick<IncidentRow, 'id' | 'vendor'> | undefined,
  alerts: readonly AlertRow[],
  events: readonly IncidentEventRow[],
  change: Change | null,
): Promise<Known> {
  const isElsewhere = parent !== undefined && (await sharedVendors(read, [parent.id])).has(parent.id)
  const lead = alerts.find(({ id }) => id === row.lead_alert_id)
  return {
    signs: alerts.map(signOf),
    leadId: row.lead_alert_id,
    voiceId: row.announced_alert_id,
    change,
    vendorElsewhere: typeof parent?.vendor === 'string' && isElsewhere ? vendorName(parent.vendor) : null,
    httpStatus: lead === undefined || row.scope !== 'site' ? null : httpStatusIn(lead.details),
    why: events.flatMap(({ kind, text }) => (EVIDENCE.includes(kind) ? text : [])),
  }
}

/** Returns the last change before its first alert began. */
async function changeBefore({ read }: Pick<Store, 'read'>, row: IncidentRow, alerts: readonly AlertRow[]) {
  const [first] = alerts.toSorted((a, b) => a.started_at - b.started_at)
  if (first === undefined || row.scope !== 'site') return null
  const marker = (await changesBefore(read, [first])).get(first.id)
  return marker === undefined ? null : { marker, startedAt: first.started_at }
}

async function affectedBy({ read }: Pick<Store, 'read'>, alerts: readonly AlertRow[]) {
  const siteIds = [...new Set(alerts.map(({ site_id }) => site_id))]
  if (siteIds.length === 0) return []
  const sites = await read.selectFrom('sites').select(['id', 'name']).where('id', 'in', siteIds).execute()
  const names = new Map(sites.map(({ id, name }) => [id, name]))
  return alerts
    .toSorted((a, b) => a.started_at - b.started_at)
    .map((alert) => {
      const { vendor, tag, events } = signOf(alert)
      return {
        alert_id: alert.id,
        client_id: alert.client_id,
        site_id: alert.site_id,
        site_name: names.get(alert.site_id) ?? '',
        subject_label: alert.subject_label,
        tag,
        events: [...events],
        vendor: vendor === null ? null : vendorName(vendor),
        started_at: isoTime(alert.started_at),
        resolved_at: isoTimeOrNull(alert.resolved_at),
      }
    })
}
