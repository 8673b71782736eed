import { Temporal } from 'temporal-polyfill'
import { incidentsSince, mutedNow } from '../alerts/index.ts'
import type { ReportContext } from '../analytics/index.ts'
import { readDowntime } from '../cluster/index.ts'
import { errorResponses, type HttpApp, type Visible, visibleTo } from '../http/index.ts'
import { isoTime, nextMonthStart, notFound, SECOND } from '../lib/index.ts'
import { monthUsages } from '../management/index.ts'
import type { SiteRow } from '../store/index.ts'
import { type Change, Changes, changeInWords, shareOf } from './changes.ts'
import { type ChangeRecord, Today, TodayQuery } from './schemas.ts'
import { versionsIn } from './versions.ts'
import { lastDay } from './weeks.ts'

/** No one waits longer for a page; sites not read by then are read by the next call. */
const PATIENCE_MS = 4_000

/** What people want to know in the morning. @throws AppError `not_found` if there is no such client */
export async function today(
  context: ReportContext,
  changes: Changes,
  visible: Visible,
  query: TodayQuery,
): Promise<Today> {
  const now = context.clock.now()
  const clients = query.client_id === undefined ? visible : [query.client_id]
  const sites = await sitesOf(context, clients, query.client_id)
  const timezone = query.timezone ?? sites[0]?.timezone ?? 'UTC'
  const since = lastEvening(now, timezone)
  const weeks = lastDay(now, timezone)
  const { read } = context.store
  const [overnight, down, versions, muted, usages] = await Promise.all([
    incidentsSince(read, clients, since),
    readDowntime(read, since, now),
    versionsIn(
      read,
      sites.map(({ id }) => id),
      { from: weeks.now.from, to: now + 1 },
    ),
    mutedNow(context.store, clients, sites, now),
    monthUsages(read, now),
  ])
  const found = await changes.of(sites, weeks, PATIENCE_MS)
  const ids = new Map(sites.map(({ site_no, id }) => [site_no, id]))
  return {
    generated_at: isoTime(now),
    timezone,
    sites: sites.length,
    overnight: { since: isoTime(since), down_seconds: Math.round(down / SECOND), ...overnight },
    changes: {
      from: isoTime(found.now.from),
      to: isoTime(found.now.to),
      before: { from: isoTime(found.before.from), to: isoTime(found.before.to) },
      compared: found.compared,
      complete: found.isComplete,
      hours_left_out: found.leftOut,
      entries: found.entries.map((change) => changeRecord(change, ids.get(change.siteNo) ?? '')),
    },
    versions: versions.map(({ at, ...version }) => ({ ...version, at: isoTime(at) })),
    quotas: usages
      .flatMap(({ id, level, ...usage }) =>
        level === 'ok' || clients?.includes(id) === false
          ? []
          : [{ client_id: id, ...usage, level, resets_at: isoTime(nextMonthStart(now)) }],
      )
      .sort((a, b) => Number(b.level === 'exceeded') - Number(a.level === 'exceeded')),
    muted,
  }
}

/** Active sites of active clients, oldest first. */
async function sitesOf(
  { store: { read } }: ReportContext,
  clients: Visible,
  clientId: string | undefined,
): Promise<SiteRow[]> {
  let query = read
    .selectFrom('sites')
    .innerJoin('clients', 'clients.id', 'sites.client_id')
    .selectAll('sites')
    .where('sites.is_active', '=', 1)
    .where('clients.is_active', '=', 1)
    .orderBy('sites.created_at')
    .orderBy('sites.site_no')
  if (clients !== null) query = query.where('sites.client_id', 'in', [...clients])
  if (clientId !== undefined) {
    const client = await read.selectFrom('clients').select('id').where('id', '=', clientId).executeTakeFirst()
    if (client === undefined) throw notFound('Client')
  }
  return query.execute()
}

function changeRecord(change: Change, site_id: string): ChangeRecord {
  const { kind, name, now, before, expected } = change
  const isShare = kind === 'tag_failures'
  return {
    site_id,
    kind,
    name,
    now: isShare ? shareOf(now) : now.runs,
    before: isShare ? shareOf(before) : before.runs,
    expected: isShare ? shareOf(before) : expected,
    usual: change.usual,
    deviations: change.deviations,
    chance: change.chance,
    runs: isShare ? now.runs : null,
    summary: changeInWords(change),
  }
}

/** Adds the call behind the morning page. */
export function todayRoutes(app: HttpApp, context: ReportContext): void {
  const changes = new Changes(context)
  app.get(
    '/api/today',
    {
      // Once an hour it reads two days of all sites.
      config: { work: 'report', scope: 'visible' },
      schema: {
        tags: ['Dashboard'],
        summary: 'Read what happened overnight',
        description:
          'Incidents since 18:00 of the day before, what changed most in the last 24 whole hours compared with the same hours a week before ' +
          '(beyond its usual variation), versions that were published, quotas that are nearly used up, and what is muted.',
        querystring: TodayQuery,
        response: { 200: Today, ...errorResponses(404) },
      },
    },
    ({ query, access }) => today(context, changes, visibleTo(access), query),
  )
}

/** When people go home. */
const EVENING = Temporal.PlainTime.from('18:00')
/** 18:00 of the day before `now` in a time zone, epoch ms. */
export function lastEvening(now: number, timezone: string): number {
  const today = Temporal.Instant.fromEpochMilliseconds(now).toZonedDateTimeISO(timezone).toPlainDate()
  return today.subtract({ days: 1 }).toZonedDateTime({ timeZone: timezone, plainTime: EVENING }).epochMilliseconds
}
