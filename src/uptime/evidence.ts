import { sql } from 'kysely'
import { readOutages } from '../cluster/index.ts'
import { firstIdAt, HOUR, MINUTE, SECOND } from '../lib/index.ts'
import { chunksOf, type Kysely, type SiteRow, type Tables } from '../store/index.ts'
import { type Evidence, lengthOf, type Span, type StateTimes, timesIn, within } from './spans.ts'

/** Runs are read by stretches of this length: how exact the beginning and the end of what was watched are, ms. */
const STEP_MS = 5 * MINUTE
/** A probe that runs once a day vouches for no day, ms. */
export const MOST_REACH_MS = 3 * HOUR
/** It says how much of the budget is spent, and must not spend of it itself. */
export const BUDGET_TYPE = 'error_budget'
/** They judge whether events come as they should, see the status of a site. */
const NORM_TYPES = ['data_freshness', 'data_volume']

/** What is known of a site's time, read once for many days of it. */
export interface SiteEvidence extends Evidence {
  /** When a probe judged that knows how many events are usual. */
  normJudged: readonly Span[]
}

/** Reads what is known of a site's time between two moments, epoch ms. */
export async function readEvidence(db: Kysely<Tables>, site: Pick<SiteRow, 'id'>, range: Span): Promise<SiteEvidence> {
  const outages = await readOutages(db, range.from, range.to)
  return { outages, ...(await readRuns(db, site, range)), ...(await readTroubles(db, site, range)) }
}

/**
 * What a site was on a day, or a part of it. As everywhere, a site is healthy only where its events are within their norm: a probe
 * that knows the norm has judged, or an event came.
 */
export function timesOf(range: Span, evidence: SiteEvidence, hasEvents: boolean): StateTimes {
  const isWithinNorm = hasEvents || lengthOf(within([range], evidence.normJudged)) > 0
  return timesIn(range, isWithinNorm ? evidence : { ...evidence, judged: [] })
}

interface RunRow {
  bucket: number
  /** Of a probe that was changed since; null of all others together. */
  probe_id: string | null
  /** The last of them was executed, epoch ms. */
  last: number
  interval_seconds: number
  judged: number
  norm_judged: number
  maintained: number
  removed_at: number | null
}

/** A result stands for the time until the one after the next was due. */
const reachOf = (intervalSeconds: number): number => Math.min(2 * intervalSeconds * SECOND + STEP_MS, MOST_REACH_MS)

async function readRuns(db: Kysely<Tables>, { id }: Pick<SiteRow, 'id'>, { from, to }: Span) {
  const changes = await readChanges(db, id, from - MOST_REACH_MS)
  const step = sql.lit(STEP_MS)
  const changed = sql`case when p.id in (${sql.join(['', ...changes.keys()])}) then p.id end`
  const isJudged = sql`r.reason is null and r.status <> 'error'`
  // What was deleted since then is known to the audit log alone.
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
    // Maintenance of one probe is none of the site, also where no other ran meanwhile.
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

/** What since then decided when probes of the site run, by the probe's id, oldest first: the audit log alone knows it. */
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

/** The interval by which a probe ran then, s, and until when what it found stands: a new interval makes the next run due by it, a pause none. */
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

/** When alerts of the site lasted that people may have been notified of, by how bad they were at the time. */
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

/** By the alert's id, oldest first. */
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

/** An alert knows how bad it is, and its timeline when that changed: what it was before the first change is the opposite of it. */
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
