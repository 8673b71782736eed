import { type RawBuilder, sql } from 'kysely'
import { ceilTo, DAY, floorTo, HOUR, MINUTE } from '../lib/index.ts'
import { GRAIN, type TimeRange } from '../rollups/index.ts'
import type { Kysely, SiteRow, Store, Tables } from '../store/index.ts'
import { type ScoreCap, score } from './score.ts'
import {
  SCORE_EVENT_COLUMNS,
  SCORE_EVENT_MEASURES,
  SCORE_TAG_COLUMNS,
  SCORE_TAG_MEASURES,
  scoreCounts,
} from './score-counts.ts'
import { criticalAlerts } from './site-facts.ts'
import { type Sums, sumBy } from './sums.ts'

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

/**
 * Sums over a range of days or less, for many sites in one statement: hour rows of hours that are not dirty, minute rows of
 * dirty hours and of the partial hour at the start. (A plan per site would be a statement per site.) Each part groups in the
 * order of the key it reads by; grouped otherwise, the dirty hours take two and a half times as long to sort. Sums grouped by
 * `keyColumn` pay for that.
 */
async function sumsBySite<M extends string>(
  db: Kysely<Tables>,
  table: 'event_rollups' | 'tag_rollups',
  siteNos: readonly number[],
  range: TimeRange,
  measures: Readonly<Record<M, RawBuilder<number>>>,
  keyColumn: 'event_name' | 'tag_key',
): Promise<({ site_no: number; key: string } & Sums<M>)[]> {
  const hoursFrom = ceilTo(range.from, HOUR)
  const key = sql.ref(`r.${keyColumn}`)
  const sums = sql.join(
    Object.entries<RawBuilder<number>>(measures).map(([name, measure]) => sql`${measure} as ${sql.ref(name)}`),
  )
  const rollups = sql.table(table)
  const sites = sql.join(siteNos)
  const { rows } = await sql<{ site_no: number; key: string } & Sums<M>>`
    select r.site_no, ${key} as key, ${sums} from ${rollups} r
    where r.site_no in (${sites}) and r.grain = ${GRAIN.minute}
      and r.bucket >= ${range.from} and r.bucket < ${hoursFrom}
    group by r.site_no, ${key}
    union all
    select r.site_no, ${key} as key, ${sums} from ${rollups} r
    where r.site_no in (${sites}) and r.grain = ${GRAIN.hour} and r.bucket >= ${hoursFrom} and r.bucket < ${range.to}
      and not exists (
        select 1 from rollup_marks m
        where m.site_no = r.site_no and m.grain = ${GRAIN.hour} and m.bucket = r.bucket - r.bucket % ${HOUR}
      )
    group by r.site_no, ${key}
    union all
    select m.site_no, ${key} as key, ${sums} from rollup_marks m
    join ${rollups} r
      on r.site_no = m.site_no and r.grain = ${GRAIN.minute} and r.bucket >= m.bucket and r.bucket < m.bucket + ${HOUR}
    where m.site_no in (${sites}) and m.grain = ${GRAIN.hour} and m.bucket >= ${hoursFrom} and m.bucket < ${range.to}
    group by m.site_no, ${key}`.execute(db)
  return rows
}
