import { type RawBuilder, sql } from 'kysely'
import { ceilTo, DAY, floorTo, HOUR, MINUTE } from '../lib/index.ts'
import { GRAIN, type TimeRange } from '../rollups/index.ts'
import type { Kysely, SiteRow, Store, Tables } from '../store/index.ts'
import { type Sums, sumBy, zeroSums } from './merge.ts'
import { score } from './score.ts'
import {
  SCORE_EVENT_COLUMNS,
  SCORE_EVENT_MEASURES,
  SCORE_TAG_COLUMNS,
  SCORE_TAG_MEASURES,
  scoreCounts,
} from './score-counts.ts'

/** What an overview of many sites says of each: its last 24 hours. */
export interface SiteSummary {
  events_24h: number
  /** 0–100, null with too little data. */
  score: number | null
}

/** Sites per snapshot: a reader is busy with one for long enough as it is. */
const SITES_PER_QUERY = 250

/** The last 24 hours of many sites, by `site_no`: the figures that `overview` gives for each. */
export async function siteSummaries(
  store: Store,
  sites: readonly Pick<SiteRow, 'site_no'>[],
  now: number,
): Promise<Map<number, SiteSummary>> {
  const to = floorTo(now, MINUTE) + MINUTE
  const range = { from: to - DAY, to }
  const summaries = new Map<number, SiteSummary>()
  for (let start = 0; start < sites.length; start += SITES_PER_QUERY) {
    const siteNos = sites.slice(start, start + SITES_PER_QUERY).map((site) => site.site_no)
    for (const [siteNo, summary] of await summariesOf(store, siteNos, range)) summaries.set(siteNo, summary)
  }
  return summaries
}

async function summariesOf(store: Store, siteNos: number[], range: TimeRange): Promise<[number, SiteSummary][]> {
  const { events, tags } = await store.reports.transaction().execute(async (db) => ({
    events: await sumsBySite(db, 'event_rollups', siteNos, range, SCORE_EVENT_MEASURES),
    tags: await sumsBySite(db, 'tag_rollups', siteNos, range, SCORE_TAG_MEASURES),
  }))
  return siteNos.map((siteNo) => {
    const ofEvents = events.get(siteNo) ?? zeroSums(SCORE_EVENT_COLUMNS)
    const ofTags = tags.get(siteNo) ?? zeroSums(SCORE_TAG_COLUMNS)
    return [siteNo, { events_24h: ofEvents.total, score: score(scoreCounts(ofEvents, ofTags)).overall }]
  })
}

/**
 * Sums over a range of days or less, for many sites in one statement: hour rows where no mark forbids it, minute rows in
 * the marked hours and in the cut hour at the start. (A cover per site would be a statement per site.) Each part groups
 * in the order of the key it reads by; grouped otherwise, the marked hours take two and a half times as long to sort.
 */
async function sumsBySite<M extends string>(
  db: Kysely<Tables>,
  table: 'event_rollups' | 'tag_rollups',
  siteNos: readonly number[],
  range: TimeRange,
  measures: Readonly<Record<M, RawBuilder<number>>>,
): Promise<Map<number, Sums<M>>> {
  const hoursFrom = ceilTo(range.from, HOUR)
  const sums = sql.join(
    Object.entries<RawBuilder<number>>(measures).map(([name, measure]) => sql`${measure} as ${sql.ref(name)}`),
  )
  const rollups = sql.table(table)
  const sites = sql.join(siteNos)
  const { rows } = await sql<{ site_no: number } & Sums<M>>`
    select r.site_no, ${sums} from ${rollups} r
    where r.site_no in (${sites}) and r.grain = ${GRAIN.minute}
      and r.bucket >= ${range.from} and r.bucket < ${hoursFrom}
    group by r.site_no
    union all
    select r.site_no, ${sums} from ${rollups} r
    where r.site_no in (${sites}) and r.grain = ${GRAIN.hour} and r.bucket >= ${hoursFrom} and r.bucket < ${range.to}
      and not exists (
        select 1 from rollup_marks m
        where m.site_no = r.site_no and m.grain = ${GRAIN.hour} and m.bucket = r.bucket - r.bucket % ${HOUR}
      )
    group by r.site_no
    union all
    select m.site_no, ${sums} from rollup_marks m
    join ${rollups} r
      on r.site_no = m.site_no and r.grain = ${GRAIN.minute} and r.bucket >= m.bucket and r.bucket < m.bucket + ${HOUR}
    where m.site_no in (${sites}) and m.grain = ${GRAIN.hour} and m.bucket >= ${hoursFrom} and m.bucket < ${range.to}
    group by m.site_no`.execute(db)
  const bySite = sumBy(rows, Object.keys(measures) as M[], (row) => String(row.site_no))
  return new Map(Array.from(bySite, ([siteNo, sumsOfSite]) => [Number(siteNo), sumsOfSite]))
}
