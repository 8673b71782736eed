import { sql } from 'kysely'
import { DAY, floorTo, HOUR, MINUTE } from '../../src/lib/index.ts'
import { EVENT_COLUMNS, GRAIN, minuteParts, siteContainers, TAG_COLUMNS, tagNames } from '../../src/rollups/index.ts'
import {
  type BatchOperation,
  columnsOf,
  openSqliteStore,
  type SqlValue,
  type Store,
  type UpsertSpec,
} from '../../src/store/index.ts'
import { CONTAINER_ID } from '../../testkit/payloads.ts'
import { addMinutes, type NamedCounts, rollupRows } from './counts.ts'

export const HISTORY_TAGS = 50
export const HISTORY_EVENT_NAMES = 40
const MINUTES_HOURS = 24
const DERIVED_ROWS_DAYS = 30
const ROWS_PER_BATCH = 10_000

/** What every event name, and every tag, of every site counts in one minute. */
const EVENTS_A_MINUTE = 2
const EVENT_COUNTS: Partial<Record<(typeof EVENT_COLUMNS)[number], number>> = {
  events: EVENTS_A_MINUTE,
  total: EVENTS_A_MINUTE,
  user_data_total: EVENTS_A_MINUTE,
  email: 1,
  phone: 1,
  address: 1,
  user_data_detail_total: EVENTS_A_MINUTE,
  first_name: 1,
  country: 1,
  ecommerce_total: 1,
  value: 1,
  currency: 1,
  items: 1,
}
const TAG_COUNTS: Partial<Record<(typeof TAG_COLUMNS)[number], number>> = {
  success: 9,
  failure: 1,
  executions: 10,
  total_ms: 1_070,
  timed: 10,
  le_25: 3,
  le_50: 3,
  le_100: 2,
  le_250: 1,
  le_1000: 1,
}

const EVENT_ROWS = rollupRows('event_rollups')
const TAG_ROWS = rollupRows('tag_rollups')

interface Bucket {
  grain: number
  start: number
  /** Minutes with counts in it: all of them, except in the bucket that is not over. */
  minutes: number
}

/**
 * Gives the sites in `dataDir` a past: parts of the minutes of the last 24 hours, and hour and day rows for 30 days that agree
 * with them, so that no bucket is marked as out of date. Every site has `HISTORY_TAGS` tags and `HISTORY_EVENT_NAMES`
 * event names in every minute. The rows of events × tags, which are a table of their own that no overview reads, are left
 * out. Calls `onSite` with the number of finished sites.
 */
export async function importHistory(dataDir: string, onSite: (done: number, all: number) => void): Promise<void> {
  const store = await openSqliteStore(dataDir)
  try {
    const sites = await store.read.selectFrom('sites').select('site_no').orderBy('site_no').execute()
    const [first, ...others] = sites.map((site) => site.site_no)
    if (first === undefined) return
    for (const operations of siteHistory(first, Date.now())) await store.batch(operations)
    onSite(1, sites.length)
    // Ascending, so that each table grows at its end.
    for (const [index, siteNo] of others.entries()) {
      await copyHistory(store, first, siteNo)
      onSite(index + 2, sites.length)
    }
  } finally {
    await store.close()
  }
}

/** The same past for another site. Inside the engine, which is three times as fast as sending it 70,000 rows again. */
async function copyHistory(store: Store, from: number, to: number): Promise<void> {
  for (const spec of [minuteParts, EVENT_ROWS, TAG_ROWS, siteContainers, tagNames]) {
    const table = sql.table(spec.table)
    const columns = sql.join(
      columnsOf(spec)
        .filter((column) => column !== 'site_no')
        .map((column) => sql.ref(column)),
    )
    await sql`
      insert into ${table} (site_no, ${columns})
      select ${to}, ${columns} from ${table} where site_no = ${from}
      order by ${sql.join(spec.keys.map((key) => sql.ref(key)))}
    `.execute(store.write)
  }
}

function* siteHistory(siteNo: number, now: number): Generator<BatchOperation[]> {
  const tagKeys = numbered('Vendor tag', HISTORY_TAGS)
  const eventNames = numbered('event', HISTORY_EVENT_NAMES)
  const end = floorTo(now, MINUTE)
  const ofEvents = (minutes: number) => named(eventNames, scaled(EVENT_COLUMNS, EVENT_COUNTS, minutes))
  const ofTags = (minutes: number) => named(tagKeys, scaled(TAG_COLUMNS, TAG_COUNTS, minutes))
  const minutes = bucketsOf(GRAIN.minute, floorTo(end, HOUR) - MINUTES_HOURS * HOUR, end)
  const aMinute = { event_rollups: ofEvents(1), tag_rollups: ofTags(1) }
  yield [
    addMinutes(
      siteNo,
      CONTAINER_ID,
      minutes.map(({ start }) => [start, aMinute]),
    ),
  ]
  const buckets = derivedBuckets(end)
  const bucketsPerBatch = Math.floor(ROWS_PER_BATCH / (HISTORY_TAGS + HISTORY_EVENT_NAMES))
  for (let start = 0; start < buckets.length; start += bucketsPerBatch) {
    const some = buckets.slice(start, start + bucketsPerBatch)
    yield [upsert(EVENT_ROWS, rows(siteNo, some, ofEvents)), upsert(TAG_ROWS, rows(siteNo, some, ofTags))]
  }
  yield [
    upsert(siteContainers, [siteNo, CONTAINER_ID, 1, now]),
    upsert(
      tagNames,
      tagKeys.flatMap((name, index) => [siteNo, CONTAINER_ID, String(100 + index), name, now]),
    ),
  ]
}

function rows(
  siteNo: number,
  buckets: readonly Bucket[],
  countsOf: (minutes: number) => readonly NamedCounts[],
): SqlValue[] {
  return buckets.flatMap(({ grain, start, minutes }) =>
    countsOf(minutes).flatMap(({ names, counts }): SqlValue[] => [
      siteNo,
      grain,
      start,
      CONTAINER_ID,
      ...names,
      ...counts,
    ]),
  )
}

/** The same counts under each name. */
const named = (names: readonly string[], counts: readonly number[]): NamedCounts[] =>
  names.map((name) => ({ names: [name], counts }))

/** All hours and days up to `end`, in the order of the tables' keys. */
function derivedBuckets(end: number): Bucket[] {
  const historyStart = floorTo(end, DAY) - DERIVED_ROWS_DAYS * DAY
  return [...bucketsOf(GRAIN.hour, historyStart, end), ...bucketsOf(GRAIN.day, historyStart, end)]
}

function bucketsOf(grain: number, from: number, end: number): Bucket[] {
  const size = grain * 1_000
  return Array.from({ length: Math.ceil((end - from) / size) }, (_, index) => {
    const start = from + index * size
    return { grain, start, minutes: (Math.min(start + size, end) - start) / MINUTE }
  })
}

const scaled = <Column extends string>(
  columns: readonly Column[],
  counts: Partial<Record<Column, number>>,
  minutes: number,
): number[] => columns.map((column) => (counts[column] ?? 0) * minutes)

/** Names that sort like their numbers. */
export const numbered = (name: string, count: number): string[] =>
  Array.from({ length: count }, (_, index) => `${name} ${String(index).padStart(3, '0')}`)

const upsert = (spec: UpsertSpec, values: readonly SqlValue[]): BatchOperation => ({ kind: 'upsert', spec, values })
