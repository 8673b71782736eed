import { DAY, floorTo, MINUTE } from '../lib/index.ts'
import type { TimeRange } from '../rollups/index.ts'
import type { SiteRow, Store } from '../store/index.ts'
import { type ScoreCap, score } from './score.ts'
import {
  SCORE_EVENT_COLUMNS,
  SCORE_EVENT_MEASURES,
  SCORE_TAG_COLUMNS,
  SCORE_TAG_MEASURES,
  scoreCounts,
} from './score-counts.ts'
import { criticalAlerts } from './site-facts.ts'
import { sumBy } from './sums.ts'
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
}

export interface TagFigures {
  tag_key: string
  executions: number
  success: number
}

/** Sites per snapshot: a reader is busy with one for long enough as it is. */
const SITES_PER_QUERY = 250

/** The last 24 hours of many sites, by `site_no`: the figures that `overview` gives for each. */
export const siteSummaries = (
  store: Store,
  sites: readonly Pick<SiteRow, 'site_no' | 'id'>[],
  now: number,
): Promise<ReadonlyMap<number, SiteSummary>> => siteFigures(store, sites, now)

/** The same, with the figures of each tag. */
export async function siteFigures(
  store: Store,
  sites: readonly Pick<SiteRow, 'site_no' | 'id'>[],
  now: number,
): Promise<Map<number, SiteFigures>> {
  const to = floorTo(now, MINUTE) + MINUTE
  const range = { from: to - DAY, to }
  const summaries = new Map<number, SiteFigures>()
  for (let start = 0; start < sites.length; start += SITES_PER_QUERY) {
    const part = sites.slice(start, start + SITES_PER_QUERY)
    for (const [siteNo, summary] of await summariesOf(store, part, range)) summaries.set(siteNo, summary)
  }
  return summaries
}

async function summariesOf(
  store: Store,
  sites: readonly Pick<SiteRow, 'site_no' | 'id'>[],
  range: TimeRange,
): Promise<[number, SiteFigures][]> {
  const siteNos = sites.map((site) => site.site_no)
  const ids = sites.map((site) => site.id)
  const { eventRows, tagRows, alerts } = await store.reports.transaction().execute(async (db) => ({
    eventRows: await sumsBySite(db, 'event_rollups', siteNos, range, SCORE_EVENT_MEASURES, 'event_name'),
    tagRows: await sumsBySite(db, 'tag_rollups', siteNos, range, SCORE_TAG_MEASURES, 'tag_key'),
    alerts: await criticalAlerts(db, ids),
  }))
  const events = Map.groupBy(eventRows, (row) => row.site_no)
  const tags = Map.groupBy(tagRows, (row) => row.site_no)
  return sites.map(({ site_no, id }) => {
    const ofEvents = sumBy(events.get(site_no) ?? [], SCORE_EVENT_COLUMNS, (row) => row.key)
    // Joined by name only: what a tag was called before it was named or renamed today counts beside it.
    const ofTags = sumBy(tags.get(site_no) ?? [], SCORE_TAG_COLUMNS, (row) => row.key)
    const counts = scoreCounts(ofEvents, ofTags)
    const { overall, cap } = score(counts, alerts.get(id))
    return [
      site_no,
      {
        events_24h: counts.events,
        score: overall,
        score_cap: cap,
        tags: Array.from(ofTags, ([tag_key, { executions, success }]) => ({ tag_key, executions, success })),
      },
    ]
  })
}
