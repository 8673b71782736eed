import { sql } from 'kysely'
import { readOutages } from '../cluster/index.ts'
import { firstIdAt, HOUR, MINUTE, SECOND } from '../lib/index.ts'
import { readPauses } from '../management/index.ts'
import { chunksOf, type Kysely, type SiteRow, type Tables } from '../store/index.ts'
import { type Evidence, lengthOf, type Span, type StateTimes, timesIn, within } from './spans.ts'

/** Probe runs are grouped into buckets of this length, so the edges of the watched time are exact to this length only. ms. */
const STEP_MS = 5 * MINUTE
/** The longest time one run can vouch for: a probe that runs once a day must not vouch for the whole day. ms. */
export const MOST_REACH_MS = 3 * HOUR
/** Left out here: an alert about the spent budget must not itself spend budget. */
const BUDGET_TYPE = 'error_budget'
/** The probe types that judge whether events come as usual; a site's status on the dashboard follows the same rule. */
const NORM_TYPES = ['data_freshness', 'data_volume']

/** What is known about a site over a range of time, read once for many of its days. */
export interface SiteEvidence extends Evidence {
  /** When a probe that knows the usual number of events came to a verdict. */
  normJudged: readonly Span[]
}

/** Reads what is known about a site between two moments, epoch ms. */
export async function readEvidence(
  db: Kysely<Tables>,
  site: Pick<SiteRow, 'id' | 'client_id'>,
  range: Span,
): Promise<SiteEvidence> {
  const outages = await readOutages(db, range.from, range.to)
  // The last result from before a pause would vouch for up to hours of it.
  const pauses = await readPauses(db, site, range.from, range.to)
  return {
    outages: [...outages, ...pauses],
    ...(await readRuns(db, site, range)),
    ...(await readTroubles(db, site, range)),
  }
}

/**
 * How long a site was in which state during a day or part of one. As everywhere, a site is healthy only if its events are within
 * their norm: without an event, and without a verdict of a probe that knows the norm, no time of the range is ok.
 */
export function timesOf(range: Span, evidence: SiteEvidence, hasEvents: boolean): StateTimes {
  const isWithinNorm = hasEvents || lengthOf(within([range], evidence.normJudged)) > 0
  return timesIn(range, isWithinNorm ? evidence : { ...evidence, judged: [] })
}

interface RunRow {
  bucket: number
  /** Set for a probe whose pace changed since then, see `readChanges`; null for all other probes of the bucket together. */
  probe_id: string | null
  /** When the latest run of the bucket was executed, epoch ms. */
  last: number
  interval_seconds: number
  judged: number
  norm_judged: number
  maintained: number
  removed_at: number | null
}

/** How long a result stands, ms: until the second run after it would be due, so that one missed run leaves no gap. */
const reachOf = (intervalSeconds: number): number => Math.min(2 * intervalSeconds * SECOND + STEP_MS, MOST_REACH_MS)

async function readRuns(db: Kysely<Tables>, { id }: Pick<SiteRow, 'id'>, { from, to }: Span) {
  const changes = await readChanges(db, id, from - MOST_REACH_MS)
  const step = sql.lit(STEP_MS)
  const changed = sql`case when p.id in (${sql.join(['', ...changes.keys()])}) then p.id end`
  const isJudged = sql`r.reason is null and r.status <> 'error'`
  // Of maintenance deleted since then only the audit log still says whether it covered one probe or the site.
  const wasOfProbe = sql`exists (select 1 from audit_log a where a.entity_id = r.maintenance_id
    and a.action = 'maintenance.create' and a.after like '%"probe_id":%')`
  const { rows } = await sql<RunRow>`
    select r.executed_at - r.executed_at % ${step} as bucket, ${changed} as probe_id, max(r.executed_at) as last,
      p.interval_seconds, p.removed_at,
      max(case when ${isJudged} then 1 else 0 end) as judged,
      max(case when ${isJudged} and p.probe_type in (${sql.join(NORM_TYPES)}) then 1 else 0 end) as norm_judged,
      min(case when r.maintenance_id is null or m.probe_id is not null or (m.id is null and ${wasOfProbe}) then 0 else 1 end)
        as maintained
    from (
      select id, probe_type, interval_seconds, null as removed_at from probes where site_id = ${id}
      union all select id, probe_type, interval_seconds, removed_at from removed_probes where site_id = ${id}
    ) p join probe_results r on r.probe_id = p.id left join maintenance m on m.id = r.maintenance_id
    where p.probe_type <> ${BUDGET_TYPE}
      and r.id >= ${firstIdAt(from - MOST_REACH_MS)} and r.id < ${firstIdAt(to)}
    group by 1, 2, p.interval_seconds, p.removed_at`.execute(db)
  const runs = rows.map((row) => ({ ...row, ...rhythmOf(row, changes.get(row.probe_id ?? '') ?? []) }))
  const spansOf = (chosen: typeof runs): Span[] => chosen.map(({ bucket, until }) => ({ from: bucket, to: until }))
  const byBucket = [...Map.groupBy(runs, ({ bucket }) => bucket)].sort(([a], [b]) => b - a)
  let workEndsBy = Number.POSITIVE_INFINITY
  return {
    ran: spansOf(runs),
    judged: spansOf(runs.filter(({ judged }) => judged === 1)),
    normJudged: spansOf(runs.filter(({ norm_judged }) => norm_judged === 1)),
    // Maintenance of one probe is not maintenance of the site, even when no other probe ran meanwhile.
    maintained: byBucket.flatMap(([bucket, together]): Span[] => {
      if (together.some(({ maintained }) => maintained === 0)) {
        workEndsBy = bucket
        return []
      }
      const interval = Math.min(...together.map(({ interval }) => interval)) * SECOND
      return [{ from: bucket, to: Math.min(bucket + Math.max(STEP_MS, Math.min(interval, MOST_REACH_MS)), workEndsBy) }]
    }),
  }
}

interface ProbeChange {
  at: number
  before: { interval_seconds?: number }
  after: { interval_seconds?: number; is_active?: boolean }
}

/** Changes of interval and pauses of the site's probes since then, by probe id, oldest first. Only the audit log has them. */
async function readChanges(db: Kysely<Tables>, siteId: string, since: number): Promise<Map<string, ProbeChange[]>> {
  const idsIn = (table: 'probes' | 'removed_probes') => db.selectFrom(table).select('id').where('site_id', '=', siteId)
  const rows = await db
    .selectFrom('audit_log')
    .select(['entity_id', 'at', 'before', 'after'])
    .where('entity_id', 'in', idsIn('probes').unionAll(idsIn('removed_probes')))
    .where('action', '=', 'probe.update')
    .where('at', '>', since)
    .where(({ eb, or }) => or(['interval_seconds', 'is_active'].map((name) => eb('after', 'like', `%"${name}":%`))))
    .orderBy('id')
    .execute()
  const changes = rows.map(({ entity_id, at, before, after }) => ({
    id: entity_id,
    at,
    before: JSON.parse(before ?? '{}') as ProbeChange['before'],
    after: JSON.parse(after ?? '{}') as ProbeChange['after'],
  }))
  return Map.groupBy(changes, ({ id }) => id)
}

/**
 * The interval a probe had at the time, s, and until when its result stands. After a change of interval the next run is due by
 * the new one; after a pause no run is due, and the result no longer stands.
 */
function rhythmOf({ bucket, last, interval_seconds, removed_at }: RunRow, changes: readonly ProbeChange[]) {
  const later = changes.filter(({ at }) => at > last)
  const paced = later.filter(({ after }) => after.interval_seconds !== undefined)
  const interval = paced[0]?.before.interval_seconds ?? interval_seconds
  let reach = reachOf(interval)
  for (const { at, after } of paced)
    if (at < bucket + reach) reach = Math.max(reach, reachOf(after.interval_seconds ?? 0))
  const paused = later.find(({ after }) => after.is_active === false)
  const until = Math.min(bucket + reach, removed_at ?? Number.POSITIVE_INFINITY, paused?.at ?? Number.POSITIVE_INFINITY)
  return { interval, until }
}

/** When the site had confirmed alerts (those people may have been notified of), by their severity at the time. */
async function readTroubles(db: Kysely<Tables>, { id }: Pick<SiteRow, 'id'>, { from, to }: Span) {
  const alerts = await db
    .selectFrom('alerts')
    .select(['id', 'subject', 'severity', 'started_at', 'resolved_at'])
    .where('site_id', '=', id)
    .where('probe_type', '<>', BUDGET_TYPE)
    .where('confirmed_at', 'is not', null)
    .where('started_at', '<', to)
    .where(({ eb, or }) => or([eb('resolved_at', 'is', null), eb('resolved_at', '>', from)]))
    .execute()
  const changes = await severityChanges(
    db,
    alerts.map((alert) => alert.id),
  )
  const troubles = { critical: [] as Span[], warning: [] as Span[], unchecked: [] as Span[] }
  for (const { subject, severity, started_at, resolved_at, ...alert } of alerts) {
    const span = { from: started_at, to: resolved_at ?? Number.POSITIVE_INFINITY }
    if (subject === 'check') troubles.unchecked.push(span)
    else addBySeverity(troubles, span, severity, changes.get(alert.id) ?? [])
  }
  return troubles
}

interface SeverityChange {
  at: number
  kind: string
}

/** By alert id, oldest first. */
async function severityChanges(db: Kysely<Tables>, ids: readonly string[]): Promise<Map<string, SeverityChange[]>> {
  const changes = new Map<string, SeverityChange[]>()
  for (const chunk of chunksOf(ids)) {
    const rows = await db
      .selectFrom('alert_events')
      .select(['alert_id', 'at', 'kind'])
      .where('alert_id', 'in', chunk)
      .where('kind', 'in', ['escalated', 'eased'])
      .orderBy('id')
      .execute()
    for (const row of rows) changes.set(row.alert_id, [...(changes.get(row.alert_id) ?? []), row])
  }
  return changes
}

/**
 * Splits an alert's time by severity. The alert stores only its present severity; its timeline has the changes, and before the
 * first one it was the opposite of what that changed it to.
 */
function addBySeverity(
  { critical, warning }: { critical: Span[]; warning: Span[] },
  span: Span,
  severity: string,
  changes: readonly SeverityChange[],
): void {
  const [first] = changes
  let isCritical = first === undefined ? severity === 'critical' : first.kind === 'eased'
  let { from } = span
  for (const { at, kind } of changes) {
    ;(isCritical ? critical : warning).push({ from, to: at })
    isCritical = kind === 'escalated'
    from = at
  }
  ;(isCritical ? critical : warning).push({ from, to: span.to })
}
