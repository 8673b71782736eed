import { DAY, floorTo, HOUR } from '../lib/index.ts'
import { EVENT_COLUMNS, GRAIN, NO_EVENT, OTHER, TAG_COLUMNS, type TimeRange, widenRange } from '../rollups/index.ts'
import type { EventCounts, SiteRow, TagCounts } from '../store/index.ts'
import {
  type EcommercePresence,
  ecommercePresence,
  type Score,
  score,
  type UserDataPresence,
  userDataPresence,
} from './score.ts'
import { bearsTransactionId, type Carriers, carriersOf, type ScoreEventSums, scoreCounts } from './score-counts.ts'
import { type SignalReport, signalReport } from './signals.ts'
import {
  admissionWarnings,
  type ContainerReport,
  type CriticalAlert,
  containersOf,
  criticalAlerts,
  idsOverCapAt,
  rejectionsOf,
  type Warning,
  warningsOf,
} from './site-facts.ts'
import { type ReportContext, readSnapshot, type Snapshot } from './snapshot.ts'
import { addSums, byCountThenKey, type Sums, sumBy, sumByInTurns, sumWindow, zeroSums } from './sums.ts'
import { identityOf, type TagIdentity } from './tag-identity.ts'
import { type Latency, latency, type TagReport, tagReport } from './tag-report.ts'
import { saidOf } from './tag-vendors.ts'
import { previousWindow, type RangeQuery, type ReportWindow, reportWindow } from './window.ts'

/** A site's figures in one window. Times are epoch ms. */
export interface WindowReport extends TimeRange, SignalReport {
  total_events: number
  events: { event_name: string; total: number }[]
  tags: TagReport[]
  /** Execution time of all tags together. */
  latency: Latency
  user_data: UserDataPresence
  ecommerce: EcommercePresence
  score: ReportedScore
  /** Refused requests by reason. */
  rejections: Record<string, number>
  /** Events whose sender's clock was so wrong that ours was used. */
  skewed: number
  warnings: Warning[]
  /** Independent of the window, as is `last_seen`. */
  containers: ContainerReport[]
  last_seen: number | null
}

/** A score, with that of the last hour for a longer window: a whole day hides what is bad now. */
export type ReportedScore = Score & { recent: (Score & TimeRange) | null }

export interface Overview extends WindowReport {
  site_id: string
  previous?: WindowReport
}

export interface OverviewQuery extends RangeQuery {
  compare?: 'previous'
}

/** @throws AppError `invalid_request` for a window that cannot be answered */
export async function overview(context: ReportContext, site: SiteRow, query: OverviewQuery): Promise<Overview> {
  const window = reportWindow(context, site, query)
  const previous = query.compare === 'previous' ? previousWindow(context, site, window) : undefined
  const read = { from: previous?.range.from ?? window.range.from, to: window.range.to }
  return readSnapshot(
    context.store,
    site.site_no,
    read,
    async (snapshot) => {
      const facts = {
        identity: await identityOf(snapshot.db, site.site_no),
        vendorSaid: await vendorsSaid(snapshot, site.id),
        containers: await containersOf(snapshot.db, site.site_no),
        idsOverCapAt: await idsOverCapAt(snapshot.db, site.site_no),
      }
      // Alerts that are open now are no evidence about a window in the past.
      const goesOn = window.range.to >= context.clock.now()
      const alert = goesOn ? ((await criticalAlerts(snapshot.db, [site.id])).get(site.id) ?? null) : null
      const current = await windowReport(snapshot, window, facts, alert)
      const admission = await admissionWarnings(snapshot.db, site, context.clock.now())
      const report = { site_id: site.id, ...current, warnings: [...admission, ...current.warnings] }
      if (previous === undefined) return report
      return { ...report, previous: await windowReport(snapshot, previous, facts, null) }
    },
    context.limits,
  )
}

async function vendorsSaid({ db }: Snapshot, siteId: string): Promise<SiteFacts['vendorSaid']> {
  const said = await saidOf(db, [siteId])
  return (tagKey) => said(siteId, tagKey)
}

interface SiteFacts {
  identity: TagIdentity
  /** The vendor that people set for a tag. */
  vendorSaid: (tagKey: string) => string | undefined
  containers: ContainerReport[]
  idsOverCapAt: number | null
}

async function windowReport(
  snapshot: Snapshot,
  window: ReportWindow,
  facts: SiteFacts,
  alert: CriticalAlert | null,
): Promise<WindowReport> {
  const { identity, vendorSaid, containers, idsOverCapAt } = facts
  const otherContainer = containers.find(({ container_id }) => container_id === OTHER)
  const since = floorTo(window.range.from, DAY)
  const events = await eventSums(snapshot, window)
  const tags = await tagSums(snapshot, window, identity)
  const all = sumOf([...events.values()], EVENT_COLUMNS)
  const scored = withTransactions(events)
  const carriers = carriersOf(scored)
  const signals = await signalReport(snapshot, window, identity)
  const rejections = await rejectionsOf(snapshot.db, snapshot.siteNo, window.range)
  return {
    ...window.range,
    total_events: all.total,
    events: Array.from(events, ([event_name, sums]) => ({ event_name, total: sums.events }))
      .filter(({ event_name, total }) => event_name !== NO_EVENT && total > 0)
      .sort(
        byCountThenKey(
          (event) => event.total,
          (event) => event.event_name,
        ),
      ),
    tags: Array.from(tags, ([key, sums]) => tagReport(key, sums, identity, vendorSaid)).sort(
      byCountThenKey(
        (tag) => tag.executions,
        (tag) => tag.tag_key,
      ),
    ),
    latency: latency(sumOf([...tags.values()], TAG_COLUMNS)),
    user_data: userDataPresence(all),
    ecommerce: ecommercePresence(all),
    ...signals,
    score: {
      ...score(scoreCounts(scored, tags, carriers), alert),
      recent: await recentScore(snapshot, window, identity, alert, carriers),
    },
    rejections,
    skewed: all.skewed,
    warnings: warningsOf({
      events: events.has(OTHER),
      tags: tags.has(OTHER),
      containers: (otherContainer?.last_seen ?? 0) >= since,
      tagIds: (idsOverCapAt ?? 0) >= since,
      counts: all,
    }),
    containers,
    last_seen: containers[0]?.last_seen ?? null,
  }
}

/** Null for a window of an hour or less, and where counts of the last hour can no longer be told apart. */
async function recentScore(
  snapshot: Snapshot,
  window: ReportWindow,
  identity: TagIdentity,
  alert: CriticalAlert | null,
  carriers: Carriers,
): Promise<ReportedScore['recent']> {
  const { from, to } = window.range
  const hour = widenRange({ from: to - HOUR, to }, window.rows(GRAIN.day))
  if (hour.from <= from || hour.from < window.minuteRowsFrom) return null
  const part = { ...window, range: hour }
  const events = await eventSums(snapshot, part)
  const tags = await tagSums(snapshot, part, identity)
  return { ...hour, ...score(scoreCounts(withTransactions(events), tags, carriers), alert) }
}

async function eventSums(snapshot: Snapshot, window: ReportWindow): Promise<Map<string, EventCounts>> {
  const rows = await sumWindow(snapshot, window, 'event_rollups', ['event_name'], EVENT_COLUMNS)
  return sumBy(rows, EVENT_COLUMNS, (row) => row.event_name)
}

async function tagSums(
  snapshot: Snapshot,
  window: ReportWindow,
  identity: TagIdentity,
): Promise<Map<string, TagCounts>> {
  const rows = await sumWindow(snapshot, window, 'tag_rollups', ['container_id', 'tag_key'], TAG_COLUMNS)
  return sumByInTurns(rows, TAG_COLUMNS, (row) => identity.keyOf(row.container_id, row.tag_key))
}

function withTransactions(events: ReadonlyMap<string, EventCounts>): Map<string, ScoreEventSums> {
  return new Map(
    Array.from(events, ([name, sums]) => {
      const bears = bearsTransactionId(name)
      const transaction_id = bears ? sums.transaction_id : 0
      return [name, { ...sums, transaction_total: bears ? sums.ecommerce_total : 0, transaction_id }]
    }),
  )
}

function sumOf<C extends string>(rows: readonly Sums<C>[], columns: readonly C[]): Sums<C> {
  const sums = zeroSums(columns)
  for (const row of rows) addSums(sums, row, columns)
  return sums
}
