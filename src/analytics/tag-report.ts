import type { RawBuilder, SqlBool } from 'kysely'
import { notFound } from '../lib/index.ts'
import { GRAIN, LATENCY_BOUNDS_MS, LATENCY_COLUMNS, OUTCOMES, TAG_COLUMNS, type TimeRange } from '../rollups/index.ts'
import type { OutcomeCounts, SiteRow, TagCounts } from '../store/index.ts'
import { ratio } from './score.ts'
import { type ReportContext, readSnapshot, type Snapshot } from './snapshot.ts'
import { byCountThenKey, type Sums, sumBy, sumByInTurns, sumRollups, totals } from './sums.ts'
import { identityOf, meantTag, rowsMeant, type TagIdentity } from './tag-identity.ts'
import { saidOf } from './tag-vendors.ts'
import { vendorName, vendorOf } from './vendors.ts'
import { type RangeQuery, type ReportWindow, reportWindow } from './window.ts'

/** One tag over a window. */
export interface TagReport {
  tag_key: string
  tag_id: string | null
  tag_name: string | null
  /** Whose it is, for people; null where neither people nor its name say. */
  vendor: string | null
  /** Whether people said so. */
  vendor_by_hand: boolean
  executions: number
  success: number
  failure: number
  timeout: number
  exception: number
  /** 0–1. */
  success_rate: number | null
  avg_ms: number | null
  /** Null when only batches reported the tag: they carry no distribution. */
  p50_ms: number | null
  p95_ms: number | null
  p99_ms: number | null
}

/** @param vendorSaid the vendor that people set of a key, see `tag-vendors.ts` */
export function tagReport(
  key: string,
  counts: TagCounts,
  identity: TagIdentity,
  vendorSaid: (key: string) => string | undefined,
): TagReport {
  const { executions, success, failure, timeout, exception } = counts
  return {
    tag_key: key,
    tag_id: identity.idOf(key),
    tag_name: identity.nameOf(key),
    ...vendorFields(key, identity, vendorSaid),
    executions,
    success,
    failure,
    timeout,
    exception,
    success_rate: ratio(success, executions),
    ...latency(counts),
  }
}

/** What was said of an older name of it counts, too. */
function vendorFields(
  key: string,
  identity: TagIdentity,
  vendorSaid: (key: string) => string | undefined,
): Pick<TagReport, 'vendor' | 'vendor_by_hand'> {
  const said = [key, ...identity.rawKeysOf(key)].map(vendorSaid).find((one) => one !== undefined)
  const vendor = said ?? vendorOf(key)?.id
  return { vendor: vendor === undefined ? null : vendorName(vendor), vendor_by_hand: said !== undefined }
}

export type Latency = Pick<TagReport, 'avg_ms' | 'p50_ms' | 'p95_ms' | 'p99_ms'>

export function latency(counts: Pick<TagCounts, LatencyColumn | 'total_ms' | 'timed'>): Latency {
  const histogram = LATENCY_COLUMNS.map((column) => counts[column])
  return {
    avg_ms: counts.timed === 0 ? null : counts.total_ms / counts.timed,
    p50_ms: histogramQuantile(histogram, 0.5),
    p95_ms: histogramQuantile(histogram, 0.95),
    p99_ms: histogramQuantile(histogram, 0.99),
  }
}

type LatencyColumn = (typeof LATENCY_COLUMNS)[number]

/** What failed in any way. */
export const bad = (counts: Pick<TagCounts, 'failure' | 'timeout' | 'exception'>): number =>
  counts.failure + counts.timeout + counts.exception

/**
 * The q-quantile (0–1) of a histogram in ms, interpolated linearly inside its bucket as Prometheus' `histogram_quantile`
 * does; what lies above the last bound counts as the last bound. Null without observations.
 *
 * @param counts observations per bucket of `LATENCY_BOUNDS_MS`, and at the end those above
 */
export function histogramQuantile(counts: readonly number[], q: number): number | null {
  const observations = counts.reduce((sum, count) => sum + count, 0)
  if (observations === 0) return null
  const rank = q * observations
  let below = 0
  let lower = 0
  for (const [index, upper] of LATENCY_BOUNDS_MS.entries()) {
    const count = counts[index] ?? 0
    if (count > 0 && below + count >= rank) return lower + ((upper - lower) * (rank - below)) / count
    below += count
    lower = upper
  }
  return lower
}

/** How a tag ended on an event. */
export interface EventTagReport extends OutcomeCounts {
  event_name: string
  tag_key: string
  executions: number
}

/**
 * Outcomes per event and tag over `window.hours`; only per-event payloads say on which event a tag ran.
 *
 * @param where only these rows; left out: all
 */
export async function eventTags(
  snapshot: Snapshot,
  window: ReportWindow,
  identity: TagIdentity,
  where?: RawBuilder<SqlBool>,
): Promise<EventTagReport[]> {
  const rows = await sumRollups(snapshot.db, {
    table: 'event_tag_rollups',
    siteNo: snapshot.siteNo,
    budget: snapshot.budget,
    segments: snapshot.segments(window.hours, window.hourRows(GRAIN.day)),
    by: ['container_id', 'event_name', 'tag_key'],
    measures: totals(OUTCOMES),
    ...(where === undefined ? {} : { where }),
  })
  // Names may hold any character, so the pair is kept apart by being nested.
  return [...Map.groupBy(rows, (row) => row.event_name)].flatMap(([event_name, ofEvent]) => {
    const tags = sumBy(ofEvent, OUTCOMES, (row) => identity.keyOf(row.container_id, row.tag_key))
    return Array.from(tags, ([tag_key, sums]) => ({ event_name, tag_key, executions: executions(sums), ...sums }))
  })
}

const executions = (sums: Sums<(typeof OUTCOMES)[number]>): number =>
  OUTCOMES.reduce((sum, outcome) => sum + sums[outcome], 0)

export interface TagDetail extends TagReport, TimeRange {
  site_id: string
  /** How the tag ended on each event; per-event payloads only. */
  events: ({ event_name: string; executions: number } & OutcomeCounts)[]
  /** The whole UTC hours that `events` is about, as which event a tag ran on is kept per hour, and per local day after nine weeks. */
  events_window: TimeRange
}

/**
 * One tag over a window.
 *
 * @param key the tag's key, an older name of it, or `tag_<id>`
 * @throws AppError `not_found` when the tag did not run in the window, `invalid_request` for a window that cannot be
 * answered.
 */
export async function tag(context: ReportContext, site: SiteRow, key: string, query: RangeQuery): Promise<TagDetail> {
  const window = reportWindow(context, site, query)
  return readSnapshot(
    context.store,
    site.site_no,
    // Where a local day begins inside an hour, its events are of the hours after it.
    { from: Math.min(window.range.from, window.hours.from), to: Math.max(window.range.to, window.hours.to) },
    async (snapshot) => {
      const identity = await identityOf(snapshot.db, site.site_no)
      const said = await saidOf(snapshot.db, [site.id])
      const where = rowsMeant(identity, key)
      const rows = await sumRollups(snapshot.db, {
        table: 'tag_rollups',
        siteNo: site.site_no,
        budget: snapshot.budget,
        segments: snapshot.segments(window.range, window.rows(GRAIN.day)),
        by: ['container_id', 'tag_key'],
        measures: totals(TAG_COLUMNS),
        ...(where === undefined ? {} : { where }),
      })
      const tags = await sumByInTurns(rows, TAG_COLUMNS, (row) => identity.keyOf(row.container_id, row.tag_key))
      const meant = meantTag(identity, key, (candidate) => tags.has(candidate))
      const counts = tags.get(meant)
      if (counts === undefined) throw notFound('tag')
      const events = await eventTags(snapshot, window, identity, where)
      return {
        site_id: site.id,
        ...window.range,
        ...tagReport(meant, counts, identity, (of) => said(site.id, of)),
        events: events
          .filter((event) => event.tag_key === meant)
          .map(onEvent)
          .sort(
            byCountThenKey(
              (event) => event.executions,
              (event) => event.event_name,
            ),
          ),
        events_window: window.hours,
      }
    },
    context.limits,
  )
}

function onEvent(report: EventTagReport): TagDetail['events'][number] {
  const { event_name, executions, success, failure, timeout, exception } = report
  return { event_name, executions, success, failure, timeout, exception }
}
