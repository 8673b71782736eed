import { type RawBuilder, type SqlBool, sql } from 'kysely'
import { ceilTo, DAY, floorTo, HOUR, MINUTE } from '../lib/index.ts'
import { GRAIN, partCounts, RESPONSE_COLUMNS, SIGNAL_COLUMNS, type TimeRange } from '../rollups/index.ts'
import type { Kysely, SignalCounts, SiteRow, Store, Tables } from '../store/index.ts'
import { type ScoreCap, type ScoreCounts, score, type TagCount } from './score.ts'
import {
  SCORE_EVENT_COLUMNS,
  SCORE_EVENT_MEASURES,
  SCORE_TAG_COLUMNS,
  SCORE_TAG_MEASURES,
  scoreCounts,
} from './score-counts.ts'
import { answered, refused } from './signals.ts'
import { type CriticalAlert, criticalAlerts } from './site-facts.ts'
import { addSums, type Sums, sumBy, totals, zeroSums } from './sums.ts'
import { idKey, type TagIdentity, tagIdentity } from './tag-identity.ts'

/** A site in an overview of many sites: its last 24 hours. */
export interface SiteSummary {
  events_24h: number
  /** 0–100, null with too little data. */
  score: number | null
  score_cap: ScoreCap | null
}

/** A site's summary and its tags in the same time. */
export interface SiteFigures extends SiteSummary {
  tags: readonly TagFigures[]
  /** Signals of its events; undefined when they reported none. */
  signals: SignalCounts | undefined
}

export interface TagFigures extends TagCount {
  /** Executions whose vendor's answer is known, and those that the vendor refused or did not answer. */
  answered: number
  refused: number
}

/** Sites per snapshot, so that one does not occupy a reader for too long. */
export const SITES_PER_QUERY = 250

/** The 24 hours up to the end of the minute that contains `now`. */
export function summaryRange(now: number): TimeRange {
  const to = floorTo(now, MINUTE) + MINUTE
  return { from: to - DAY, to }
}

/** Summaries of many sites with their tags, by `site_no`; the figures equal those of `overview`. */
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
    const { counts, signals, alerts } = await store.reports.transaction().execute(async (db) => {
      const counts = await summaryCounts(db, siteNos, range)
      const signals = await signalCounts(db, siteNos, range, (siteNo) => (counts.get(siteNo) ?? NO_COUNTS).keyOf)
      const alerts = await criticalAlerts(
        db,
        part.map((site) => site.id),
      )
      return { counts, signals, alerts }
    })
    for (const { site_no, id } of part) {
      const ofSite = counts.get(site_no) ?? NO_COUNTS
      const answers = signals.answers.get(site_no)
      const tags = ofSite.tags.map((tag) => ({ ...tag, ...(answers?.get(tag.tag_key) ?? NO_ANSWERS) }))
      figures.set(site_no, { ...summaryOf(ofSite.counts, alerts.get(id)), tags, signals: signals.events.get(site_no) })
    }
  }
  return figures
}

/** @param alert an open critical one of the site */
export function summaryOf(counts: ScoreCounts, alert: CriticalAlert | undefined): SiteSummary {
  const { overall, cap } = score(counts, alert)
  return { events_24h: counts.events, score: overall, score_cap: cap }
}

const NO_ANSWERS = { answered: 0, refused: 0 }

/** Events' signals by site, and vendors' answers by site and tag. */
async function signalCounts(
  db: Kysely<Tables>,
  siteNos: readonly number[],
  range: TimeRange,
  keysOf: (siteNo: number) => SummaryCounts['keyOf'],
) {
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
    const keyOf = keysOf(siteNo)
    const byTag = sumBy(ofSite, RESPONSE_COLUMNS, ({ key }) => keyOf(key))
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
  /** The key of the tag that rows with this key are about. */
  keyOf: (rawKey: string) => string
}

const itself = (key: string): string => key
const NO_COUNTS: SummaryCounts = { counts: scoreCounts(new Map(), []), tags: [], keyOf: itself }

/** The counts that each site's summary is computed from. */
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
  const identities = await identitiesOf(db, await renamingSites(db, siteNos, tagRows))
  return new Map(
    siteNos.map((siteNo) => {
      const ofEvents = sumBy(events.get(siteNo) ?? [], SCORE_EVENT_COLUMNS, (row) => row.key)
      const keyOf = identities.get(siteNo)?.resolve ?? itself
      const ofTags = sumBy(tags.get(siteNo) ?? [], SCORE_TAG_COLUMNS, (row) => keyOf(row.key))
      return [
        siteNo,
        {
          counts: scoreCounts(ofEvents, ofTags),
          tags: Array.from(ofTags, ([tag_key, { executions, success }]) => ({ tag_key, executions, success })),
          keyOf,
        },
      ]
    }),
  )
}

/** The sites of which a tag was named or renamed, so that it has several keys. To read the names of all would cost as much as their sums. */
async function renamingSites(
  db: Kysely<Tables>,
  siteNos: readonly number[],
  tagRows: readonly { site_no: number; key: string }[],
): Promise<number[]> {
  const renamed = await db
    .selectFrom('tag_names')
    .select('site_no')
    .where('site_no', 'in', siteNos)
    .groupBy(['site_no', 'container_id', 'tag_id'])
    .having(({ fn }) => fn.countAll(), '>', 1)
    .execute()
  const unnamed = tagRows.filter(({ key }) => key.startsWith(idKey('')))
  return [...new Set([...renamed, ...unnamed].map(({ site_no }) => site_no))]
}

/**
 * Sums over a day or less, for many sites in one statement: hour rows for hours that are not dirty, minutes for dirty hours and
 * for the partial hour at the start. (A plan per site would be a statement per site.) Each part groups in the order of the
 * key it reads by; grouped otherwise, the dirty hours take two and a half times as long to sort. Sums grouped by `keyColumn` pay
 * for that.
 */
export async function sumsBySite<M extends string>(
  db: Kysely<Tables>,
  table: 'event_rollups' | 'tag_rollups' | 'signal_rollups' | 'tag_signal_rollups',
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
  const select = sql`select r.site_no, ${key} as key, ${sums}`
  const grouped = sql`group by r.site_no, ${key}`
  const rollups = sql.table(table)
  const sites = sql.join(siteNos)
  // The last hour may reach beyond the range. One bound instead of two, because SQLite searches by only one of them.
  const hourEnd = sql`case when m.bucket + ${HOUR} < cast(${range.to} as bigint) then m.bucket + ${HOUR} else cast(${range.to} as bigint) end`
  const dirty = sql<SqlBool>`m.site_no in (${sites}) and m.grain = ${GRAIN.hour}
    and m.bucket >= ${hoursFrom} and m.bucket < ${range.to}`
  const partial = sql<SqlBool>`p.site_no in (${sites}) and p.bucket >= ${range.from} and p.bucket < ${hoursFrom}`
  const dirtyParts = sql`dirty_buckets m join minute_parts p
    on p.site_no = m.site_no and p.bucket >= m.bucket and p.bucket < ${hourEnd}`
  const { rows } = await sql<{ site_no: number; key: string } & Sums<M>>`
    ${select} from ${rollups} r
    where r.site_no in (${sites}) and r.grain = ${GRAIN.minute}
      and r.bucket >= ${range.from} and r.bucket < ${hoursFrom}
    ${grouped}
    union all
    ${select} from ${partCounts(db, table, { where: partial, apart: [] })} r ${grouped}
    union all
    ${select} from ${rollups} r
    where r.site_no in (${sites}) and r.grain = ${GRAIN.hour} and r.bucket >= ${hoursFrom} and r.bucket < ${range.to}
      and not exists (
        select 1 from dirty_buckets m
        where m.site_no = r.site_no and m.grain = ${GRAIN.hour} and m.bucket = r.bucket - r.bucket % ${HOUR}
      )
    ${grouped}
    union all
    select m.site_no, ${key} as key, ${sums} from dirty_buckets m
    join ${rollups} r
      on r.site_no = m.site_no and r.grain = ${GRAIN.minute} and r.bucket >= m.bucket and r.bucket < ${hourEnd}
    where ${dirty}
    group by m.site_no, ${key}
    union all
    ${select} from ${partCounts(db, table, { tables: dirtyParts, where: dirty, apart: [] })} r ${grouped}`.execute(db)
  return rows
}

/** The tag identity of each site, by `site_no`; sites that never sent a tag id have none. */
export async function identitiesOf(db: Kysely<Tables>, siteNos: readonly number[]): Promise<Map<number, TagIdentity>> {
  if (siteNos.length === 0) return new Map()
  const rows = await db
    .selectFrom('tag_names')
    .select(['site_no', 'container_id', 'tag_id', 'tag_name', 'last_seen_at'])
    .where('site_no', 'in', siteNos)
    .execute()
  const bySite = Map.groupBy(rows, ({ site_no }) => site_no)
  return new Map(Array.from(bySite, ([siteNo, ofSite]) => [siteNo, tagIdentity(ofSite)]))
}
