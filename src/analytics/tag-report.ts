import type { RawBuilder, SqlBool } from 'kysely'
import { notFound } from '../lib/index.ts'
import { GRAIN, LATENCY_BOUNDS_MS, LATENCY_COLUMNS, OUTCOMES, TAG_COLUMNS, type TimeRange } from '../rollups/index.ts'
import type { OutcomeCounts, SiteRow, TagCounts } from '../store/index.ts'
import { ratio } from './score.ts'
import { type ReportContext, readSnapshot, type Snapshot } from './snapshot.ts'
import { byCountThenKey, type Sums, sumBy, sumByInTurns, sumRollups, sumWindow, totals } from './sums.ts'
import { identityOf, meantTag, rowsMeant, type TagIdentity } from './tag-identity.ts'
import { saidOf } from './tag-vendors.ts'
import { vendorName, vendorOf } from './vendors.ts'
import { type RangeQuery, type ReportWindow, reportWindow } from './window.ts'

/** One tag over a window. */
export interface TagReport {
  tag_key: string
  tag_id: string | null
  tag_name: string | null
  /** The vendor's name; null where neither people nor the tag's name say. */
  vendor: string | null
  /** Whether people set it. */
  vendor_by_hand: boolean
  executions: number
  success: number
  failure: number
  timeout: number
  exception: number
  /** 0–1. */
  success_rate: number | null
  avg_ms: number | null
  /** Null when only batches reported the tag, as they carry no distribution. */
  p50_ms: number | null
  p95_ms: number | null
  p99_ms: number | null
}

/** @param vendorSaid the vendor that people set for a key, see `tag-vendors.ts` */
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

/** Also finds a vendor that was set for an older name of the tag. */
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

/** Executions that failed in any way. */
export const bad = (counts: Pick<TagCounts, 'failure' | 'timeout' | 'exception'>): number =>
  counts.failure + counts.timeout + counts.exception

/**
 * The q-quantile (0–1) of a histogram in ms, interpolated linearly inside its bucket as in Prometheus' `histogram_quantile`.
 * Observations above the last bound count as the last bound. Null without observations.
 *
 * @param counts observations per bucket of `LATENCY_BOUNDS_MS`, followed by those above
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

/** Outcomes of one tag on one event. */
export interface EventTagReport extends OutcomeCounts {
  event_name: string
  tag_key: string
  executions: number
}

/**
 * Outcomes by event and tag over `window.hours`. Only per-event payloads tell on which event a tag ran.
 *
 * @param where restricts the rows; all when left out
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
  // Grouped in two steps, because names may contain any separator.
  return [...Map.groupBy(rows, (row) => row.event_name)].flatMap(([event_name, ofEvent]) => {
    const tags = sumBy(ofEvent, OUTCOMES, (row) => identity.keyOf(row.container_id, row.tag_key))
    return Array.from(tags, ([tag_key, sums]) => ({ event_name, tag_key, executions: executions(sums), ...sums }))
  })
}

const executions = (sums: Sums<(typeof OUTCOMES)[number]>): number =>
  OUTCOMES.reduce((sum, outcome) => sum + sums[outcome], 0)

export interface TagDetail extends TagReport, TimeRange {
  site_id: string
  /** Outcomes of the tag on each event, from per-event payloads only. */
  events: ({ event_name: string; executions: number } & OutcomeCounts)[]
  /** What `events` covers: whole UTC hours, and whole local days more than nine weeks ago, as these rows are kept. */
  events_window: TimeRange
}

/**
 * One tag over a window.
 *
 * @param key the tag's key, an older name of it, or `tag_<id>`
 * @throws AppError `not_found` when the tag did not run in the window, `invalid_request` for a window that cannot be answered
 */
export async function tag(context: ReportContext, site: SiteRow, key: string, query: RangeQuery): Promise<TagDetail> {
  const window = reportWindow(context, site, query)
  return readSnapshot(
    context.store,
    site.site_no,
    // Where a local day begins inside an hour, its events belong to the hours after it.
    { from: Math.min(window.range.from, window.hours.from), to: Math.max(window.range.to, window.hours.to) },
    async (snapshot) => {
      const identity = await identityOf(snapshot.db, site.site_no)
      const said = await saidOf(snapshot.db, [site.id])
      const where = rowsMeant(identity, key)
      const rows = await sumWindow(snapshot, window, 'tag_rollups', ['container_id', 'tag_key'], TAG_COLUMNS, where)
      const tags = await sumByInTurns(rows, TAG_COLUMNS, (row) => identity.keyOf(row.container_id, row.tag_key))
      const meant = meantTag(identity, key, (candidate) => tags.has(candidate))
      const counts = tags.get(meant)
      if (counts === undefined) throw notFound('Tag')
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
