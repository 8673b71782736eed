import { readDowntime } from '../cluster/index.ts'
import { DEFAULT_PAGE, idBefore, type Page, pageOf, type Visible } from '../http/index.ts'
import { firstIdAt, isoTime, notFound } from '../lib/index.ts'
import { type ChannelSettings, deliveriesOf, isReachable, offChannels, withChannels } from '../notifications/index.ts'
import type { ClientRow, Kysely, Store, Tables } from '../store/index.ts'
import { changeInWords, changesBefore, factsOf } from './alert-message.ts'
import {
  type AlertQuery,
  type AlertRecord,
  alertRecord,
  SEVERITIES,
  severityOf,
  stateOf,
  timelineEntry,
} from './alert-record.ts'
import { feedbackOf, feedbackRecord, learntEvent } from './feedback-rows.ts'
import { asksForLasting, clientColumn, endBefore, endedBefore } from './last-ended.ts'
import type { Subject } from './machine/types.ts'
import { subjectOf } from './machine/types.ts'
import { endsOfTimeline } from './timeline.ts'

/**
 * Returns a page of the alerts that the caller may see, newest first or, ordered by end, the last resolved first.
 *
 * @throws AppError `invalid_request` when `before` is neither an id nor a time
 */
export async function listAlerts(
  { read }: Pick<Store, 'read'>,
  visible: Visible,
  query: AlertQuery,
): Promise<Page<AlertRecord>> {
  const { client_id, site_id, probe_id, state, severity, resolved, since, before, order, limit = DEFAULT_PAGE } = query
  const lasts = asksForLasting(query)
  let rows = read
    .selectFrom('alerts')
    .selectAll()
    .$if(order === 'resolved', (all) => all.where('resolved_at', 'is not', null).orderBy('resolved_at', 'desc'))
    .orderBy('id', 'desc')
    // An unresolved alert has no end to order by.
    .limit(lasts && order === 'resolved' ? 0 : limit + 1)
  const client = clientColumn(lasts)
  if (visible !== null) rows = rows.where(client, 'in', [...visible])
  if (client_id !== undefined) rows = rows.where(client, '=', client_id)
  if (site_id !== undefined) rows = rows.where('site_id', '=', site_id)
  if (probe_id !== undefined) rows = rows.where('probe_id', '=', probe_id)
  if (state !== undefined) rows = rows.where('state', '=', state)
  if (severity !== undefined) rows = rows.where('severity', '=', severity)
  if (resolved === true) rows = rows.where('state', '=', 'resolved')
  // Redundant beside `state = 'open'`, but it lets the engine use the small index of unresolved alerts.
  if (lasts) rows = rows.where('state', '<>', 'resolved')
  // Ids begin with the time at which an alert was opened.
  if (since !== undefined) rows = rows.where('id', '>=', firstIdAt(Date.parse(since)))
  const find = (id: string) =>
    read.selectFrom('alerts').select(['client_id', 'resolved_at']).where('id', '=', id).executeTakeFirst()
  if (before !== undefined) {
    rows =
      order === 'resolved'
        ? rows.where(endedBefore(await endBefore(before, 'an alert', visible, find)))
        : rows.where('id', '<', idBefore(before, 'an alert'))
  }
  return pageOf((await rows.execute()).map(alertRecord), limit, ({ id }) => id)
}

/** Returns the last alerts of active sites of active clients, newest first. */
export async function recentAlerts(
  { read }: Pick<Store, 'read'>,
  visible: Visible,
  limit: number,
): Promise<AlertRecord[]> {
  const rows = await read
    .selectFrom('alerts')
    .selectAll()
    .$if(visible !== null, (all) => all.where('client_id', 'in', [...(visible ?? [])]))
    .where('site_id', 'in', (db) =>
      db
        .selectFrom('sites')
        .innerJoin('clients', 'clients.id', 'sites.client_id')
        .select('sites.id')
        .where('sites.is_active', '=', 1)
        .where('clients.is_active', '=', 1),
    )
    .orderBy('id', 'desc')
    .limit(limit)
    .execute()
  return rows.map(alertRecord)
}

/**
 * Returns an alert with its timeline and the messages about it.
 *
 * @param seesSecrets whether the caller may see the addresses that messages went to
 * @throws AppError `not_found`
 */
export async function readAlert(store: Pick<Store, 'read'>, id: string, seesSecrets: boolean) {
  const row = await store.read.selectFrom('alerts').selectAll().where('id', '=', id).executeTakeFirst()
  if (row === undefined) throw notFound('Alert')
  const [timeline, deliveries, changes, feedback, down] = await Promise.all([
    timelineOf(store, id),
    deliveriesOf(store, id, seesSecrets),
    changesBefore(store.read, [row]),
    feedbackOf(store.read, id),
    readDowntime(store.read, row.started_at, row.resolved_at ?? Number.MAX_SAFE_INTEGER),
  ])
  const change = changes.get(id)
  return {
    ...alertRecord(row),
    since: isoTime(row.started_at),
    facts: factsOf(row.probe_type, row.details),
    change: change === undefined ? null : changeInWords(change, row.started_at),
    details: JSON.parse(row.details) as Record<string, unknown>,
    down_ms: down,
    timeline: timeline.lines.map(timelineEntry),
    timeline_left_out: timeline.leftOut,
    takes_feedback: learntEvent(row) !== undefined,
    feedback: feedback === undefined ? null : feedbackRecord(feedback),
    deliveries,
  }
}

function timelineOf({ read }: Pick<Store, 'read'>, id: string) {
  const events = read.selectFrom('alert_events').where('alert_id', '=', id)
  return endsOfTimeline(
    (order, limit) => events.selectAll().orderBy('id', order).limit(limit).execute(),
    () => events.select(({ fn }) => fn.countAll<number>().as('count')).executeTakeFirstOrThrow(),
  )
}

/** The fields of an unresolved alert that the status of a site or client needs. Times are epoch ms. */
export interface UnresolvedAlert {
  id: string
  clientId: string
  siteId: string
  probeId: string
  /** `check`: the alert is about our own check, and says nothing about the site. */
  subject: Subject
  severity: (typeof SEVERITIES)[number]
  state: 'open' | 'acknowledged' | 'resolved'
  title: string
  /** When it began. */
  startedAt: number
  openedAt: number
}

/** Returns all unresolved alerts, the worst first, and oldest first among equals. */
export async function unresolvedAlerts(db: Kysely<Tables>): Promise<UnresolvedAlert[]> {
  const rows = await db
    .selectFrom('alerts')
    .select(['id', 'client_id', 'site_id', 'probe_id', 'subject', 'severity', 'state', 'title', 'started_at'])
    .select('opened_at')
    .where('state', '<>', 'resolved')
    .orderBy('id')
    .execute()
  return rows
    .map((row) => ({
      id: row.id,
      clientId: row.client_id,
      siteId: row.site_id,
      probeId: row.probe_id,
      subject: subjectOf(row),
      severity: severityOf(row),
      state: stateOf(row),
      title: row.title,
      startedAt: row.started_at,
      openedAt: row.opened_at,
    }))
    .toSorted((a, b) => SEVERITIES.indexOf(b.severity) - SEVERITIES.indexOf(a.severity))
}

/** Returns the clients that no notification can reach: they have no channel, or all of theirs are off after failures. */
export async function unreachableClients(
  db: Kysely<Tables>,
  clients: readonly Pick<ClientRow, 'id' | 'name' | 'chat_webhook' | 'email'>[],
  channelSettings: ChannelSettings,
): Promise<{ id: string; name: string }[]> {
  const off = await offChannels(db)
  const known = await withChannels(db, clients)
  return known.filter((client) => !isReachable(client, channelSettings, off)).map(({ id, name }) => ({ id, name }))
}
