import { incidentsSince, mutedNow } from '../alerts/index.ts'
import type { ReportContext } from '../analytics/index.ts'
import type { Visible } from '../http/index.ts'
import { isoTime, nextMonthStart, notFound } from '../lib/index.ts'
import { monthUsages } from '../management/index.ts'
import type { SiteRow } from '../store/index.ts'
import type { Change, Changes } from './changes.ts'
import type { ChangeRecord, Today, TodayQuery } from './schemas.ts'
import { lastDay, lastEvening } from './times.ts'
import { versionsIn } from './versions.ts'
import { changeInWords, shareOf } from './words.ts'

/** Longer no one waits for a page; what was not read by then is read the next time. */
const PATIENCE_MS = 4_000

/** What someone wants to know who comes in the morning. @throws AppError `not_found` of a client that is not there */
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
  const [overnight, versions, muted, usages] = await Promise.all([
    incidentsSince(read, clients, since),
    versionsIn(
      read,
      sites.map(({ id }) => id),
      { from: weeks.now.from, to: now + 1 },
    ),
    mutedNow(context.store, clients, now),
    monthUsages(read, now),
  ])
  const found = await changes.of(sites, weeks, PATIENCE_MS)
  const ids = new Map(sites.map(({ site_no, id }) => [site_no, id]))
  return {
    generated_at: isoTime(now),
    timezone,
    sites: sites.length,
    overnight: { since: isoTime(since), ...overnight },
    changes: {
      from: isoTime(found.now.from),
      to: isoTime(found.now.to),
      before: { from: isoTime(found.before.from), to: isoTime(found.before.to) },
      compared: found.compared,
      complete: found.isComplete,
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

/** Active sites of active clients, the oldest first. */
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
