import { DAY, floorTo, MINUTE } from '../lib/index.ts'
import { RESPONSE_COLUMNS, SIGNAL_COLUMNS, type TimeRange } from '../rollups/index.ts'
import type { Kysely, SignalCounts, SiteRow, Store, Tables } from '../store/index.ts'
import { answered, refused } from './responses.ts'
import { type ScoreCap, type ScoreCounts, score, type TagCount } from './score.ts'
import {
  SCORE_EVENT_COLUMNS,
  SCORE_EVENT_MEASURES,
  SCORE_TAG_COLUMNS,
  SCORE_TAG_MEASURES,
  scoreCounts,
} from './score-counts.ts'
import { type CriticalAlert, criticalAlerts } from './site-facts.ts'
import { addSums, sumBy, totals, zeroSums } from './sums.ts'
import { sumsBySite } from './sums-by-site.ts'

/** What an overview of many sites says of each: its last 24 hours. */
export interface SiteSummary {
  events_24h: number
  /** 0–100, null with too little data. */
  score: number | null
  score_cap: ScoreCap | null
}

/** What a site's tags did in that time, beside its summary. */
export interface SiteFigures extends SiteSummary {
  tags: readonly TagFigures[]
  /** What its events said beside that; undefined where none said anything. */
  signals: SignalCounts | undefined
}

export interface TagFigures extends TagCount {
  /** Executions of which it is known how the vendor answered, and those that it did not take. */
  answered: number
  refused: number
}

/** Sites per snapshot: a reader is busy with one for long enough as it is. */
export const SITES_PER_QUERY = 250

/** The 24 hours up to the end of the minute that holds `now`. */
export function summaryRange(now: number): TimeRange {
  const to = floorTo(now, MINUTE) + MINUTE
  return { from: to - DAY, to }
}

/** The last 24 hours of many sites, with the figures of each tag, by `site_no`: what `overview` says of each. */
export async function siteFigures(
  store: Store,
  sites: readonly Pick<SiteRow, 'site_no' | 'id'>[],
  now: number,
): Promise<Map<number, SiteFigures>> {
  const range = summaryRange(now)
  const figures = new Map<number, SiteFigures>()
  for (let start = 0; start < sites.length; start += SITES_PER_QUERY) {
    const part = sites.slice(start, start + SITES_PER_QUERY)
    const siteNos = part.map((site) => site.site_no)
    const { counts, signals, alerts } = await store.reports.transaction().execute(async (db) => ({
      counts: await summaryCounts(db, siteNos, range),
      signals: await signalCounts(db, siteNos, range),
      alerts: await criticalAlerts(
        db,
        part.map((site) => site.id),
      ),
    }))
    for (const { site_no, id } of part) {
      const ofSite = counts.get(site_no) ?? NO_COUNTS
      const answers = signals.answers.get(site_no)
      const tags = ofSite.tags.map((tag) => ({ ...tag, ...(answers?.get(tag.tag_key) ?? NO_ANSWERS) }))
      figures.set(site_no, { ...summaryOf(ofSite.counts, alerts.get(id)), tags, signals: signals.events.get(site_no) })
    }
  }
  return figures
}

/** @param alert a critical one of the site that is open */
export function summaryOf(counts: ScoreCounts, alert: CriticalAlert | undefined): SiteSummary {
  const { overall, cap } = score(counts, alert)
  return { events_24h: counts.events, score: overall, score_cap: cap }
}

const NO_ANSWERS = { answered: 0, refused: 0 }

/** What events said beside their counts, by site, and how vendors answered, by site and tag. */
async function signalCounts(db: Kysely<Tables>, siteNos: readonly number[], range: TimeRange) {
  const eventRows = await sumsBySite(db, 'signal_rollups', siteNos, range, totals(SIGNAL_COLUMNS), 'event_name')
  const tagRows = await sumsBySite(db, 'tag_signal_rollups', siteNos, range, totals(RESPONSE_COLUMNS), 'tag_key')
  const events = new Map<number, SignalCounts>()
  for (const row of eventRows) {
    const sums = events.get(row.site_no) ?? zeroSums(SIGNAL_COLUMNS)
    addSums(sums, row, SIGNAL_COLUMNS)
    events.set(row.site_no, sums)
  }
  const answers = new Map<number, Map<string, typeof NO_ANSWERS>>()
  for (const [siteNo, ofSite] of Map.groupBy(tagRows, ({ site_no }) => site_no)) {
    const byTag = sumBy(ofSite, RESPONSE_COLUMNS, ({ key }) => key)
    answers.set(
      siteNo,
      new Map(
        Array.from(byTag, ([tag, responses]) => [tag, { answered: answered(responses), refused: refused(responses) }]),
      ),
    )
  }
  return { events, answers }
}

interface SummaryCounts {
  counts: ScoreCounts
  tags: readonly TagCount[]
}

const NO_COUNTS: SummaryCounts = { counts: scoreCounts(new Map(), []), tags: [] }

/** What summaries are computed from, of each of the sites. */
export async function summaryCounts(
  db: Kysely<Tables>,
  siteNos: readonly number[],
  range: TimeRange,
): Promise<Map<number, SummaryCounts>> {
  if (siteNos.length === 0) return new Map()
  const eventRows = await sumsBySite(db, 'event_rollups', siteNos, range, SCORE_EVENT_MEASURES, 'event_name')
  const tagRows = await sumsBySite(db, 'tag_rollups', siteNos, range, SCORE_TAG_MEASURES, 'tag_key')
  const events = Map.groupBy(eventRows, (row) => row.site_no)
  const tags = Map.groupBy(tagRows, (row) => row.site_no)
  return new Map(
    siteNos.map((siteNo) => {
      const ofEvents = sumBy(events.get(siteNo) ?? [], SCORE_EVENT_COLUMNS, (row) => row.key)
      // Joined by name only: what a tag was called before it was named or renamed today counts beside it.
      const ofTags = sumBy(tags.get(siteNo) ?? [], SCORE_TAG_COLUMNS, (row) => row.key)
      return [
        siteNo,
        {
          counts: scoreCounts(ofEvents, ofTags),
          tags: Array.from(ofTags, ([tag_key, { executions, success }]) => ({ tag_key, executions, success })),
        },
      ]
    }),
  )
}
