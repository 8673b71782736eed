import { DAY, floorTo, HOUR, MINUTE } from '../../src/lib/index.ts'
import {
  COUNT_COLUMNS,
  type EVENT_COLUMNS,
  type FIELD_COLUMNS,
  GRAIN,
  type OUTCOMES,
  type RollupTable,
  type SIGNAL_COLUMNS,
  siteContainers,
  type TAG_COLUMNS,
  type TAG_SIGNAL_COLUMNS,
} from '../../src/rollups/index.ts'
import type { SqlValue, Store, UpsertSpec } from '../../src/store/index.ts'
import { CONTAINER_ID } from '../../testkit/payloads.ts'
import { Random } from '../detection/random.ts'
import { addMinutes, type MinuteCounts, type NamedCounts, rollupRows } from '../lib/counts.ts'
import { numbered } from '../lib/history.ts'

/** What a site has. Each tag runs on so many of its events. */
export interface SiteSize {
  events: number
  tags: number
  eventsOfTag: number
  /** Of each kind of event. */
  eventsAMinute: number
}

const DAYS = 35
/** Minutes begin so long before the end: probes look at two hours of them, or six. */
const MINUTES_MS = 12 * HOUR
const ROWS_PER_BATCH = 5_000
/** Of the parameters that the site has named itself. */
const OWN_FIELDS = ['delivery_slot', 'member_level']

type Rates<C extends string> = Partial<Record<C, number>>

const EVENT_RATES: Rates<(typeof EVENT_COLUMNS)[number]> = {
  ...{ events: 1, total: 1, user_data_total: 1, email: 0.6, phone: 0.3, address: 0.4, user_data_detail_total: 1 },
  ...{ first_name: 0.4, last_name: 0.4, city: 0.3, country: 0.9 },
  ...{ ecommerce_total: 1, value: 0.98, currency: 0.98, transaction_id: 0.5, items: 0.95 },
}
const SIGNAL_RATES: Rates<(typeof SIGNAL_COLUMNS)[number]> = {
  ...{ consent_total: 1, ad_storage_granted: 0.7, ad_storage_denied: 0.3, analytics_storage_granted: 0.75 },
  ...{ analytics_storage_denied: 0.25, update_known: 1, never_updated: 0.1, identifiers_total: 1, event_id: 1 },
  ...{ client_id: 0.95, fbp: 0.6, fbc: 0.1, click_id: 0.15, ip: 1, user_agent: 1, validity_total: 1, value_zero: 0.01 },
}
const TAG_RATES: Rates<(typeof TAG_COLUMNS)[number]> = {
  ...{
    success: 0.99,
    failure: 0.01,
    executions: 1,
    total_ms: 150,
    timed: 1,
    le_50: 0.2,
    le_100: 0.3,
    le_250: 0.4,
    le_500: 0.1,
  },
}
const TAG_SIGNAL_RATES: Rates<(typeof TAG_SIGNAL_COLUMNS)[number]> = {
  ...{
    consent_total: 1,
    ad_storage_denied: 0.02,
    analytics_storage_denied: 0.02,
    response_2xx: 0.98,
    response_4xx: 0.02,
  },
}
const PAIR_RATES: Rates<(typeof OUTCOMES)[number]> = { success: 0.99, failure: 0.01 }
const FIELD_RATES: Rates<(typeof FIELD_COLUMNS)[number]> = { present: 0.8, total: 1 }

interface Kind {
  table: RollupTable
  rates: Rates<string>
  /** The names that follow the container in the key, of each row of a bucket. */
  keys: readonly (readonly string[])[]
  /** How many times the events of one kind a row counts. */
  times: number
}

/** Gives a site five weeks up to `end`: day and hour rows, and the minutes of its last hours. */
export async function writePast(store: Store, siteNo: number, size: SiteSize, end: number): Promise<void> {
  const random = new Random(siteNo)
  const write = writer(store)
  const kinds = kindsOf(size)
  const rowsIn = (kind: Kind, from: number, to: number): NamedCounts[] => {
    const events = (size.eventsAMinute * (to - from)) / MINUTE
    return kind.keys.flatMap((names) => {
      const count = random.poisson(events * kind.times)
      if (count === 0) return []
      return [
        { names, counts: COUNT_COLUMNS[kind.table].map((column) => countOf(random, count, kind.rates[column] ?? 0)) },
      ]
    })
  }
  const start = floorTo(end, DAY) - DAYS * DAY
  for (const { grain, length } of [
    { grain: GRAIN.day, length: DAY },
    { grain: GRAIN.hour, length: HOUR },
  ]) {
    for (const kind of kinds) {
      const spec = rollupRows(kind.table)
      for (let bucket = start; bucket < end; bucket += length) {
        for (const { names, counts } of rowsIn(kind, bucket, Math.min(bucket + length, end)))
          await write(spec, [siteNo, grain, bucket, CONTAINER_ID, ...names, ...counts])
      }
    }
  }
  await write(siteContainers, [siteNo, CONTAINER_ID, 1, end])
  await write(null)
  const minutes = new Map<number, MinuteCounts>()
  for (const kind of kinds.filter(({ table }) => table !== 'event_tag_rollups')) {
    for (let minute = floorTo(end - MINUTES_MS, HOUR); minute < end; minute += MINUTE)
      minutes.set(minute, { ...minutes.get(minute), [kind.table]: rowsIn(kind, minute, minute + MINUTE) })
  }
  await store.batch([addMinutes(siteNo, CONTAINER_ID, minutes)])
}

/** A share of them, or a sum. */
const countOf = (random: Random, count: number, rate: number): number =>
  rate > 1 ? Math.round(count * rate) : random.binomial(count, rate)

function kindsOf({ events, tags, eventsOfTag }: SiteSize): Kind[] {
  const names = numbered('event', events)
  const tagKeys = numbered('Vendor tag', tags)
  const ofEvents = { keys: names.map((name) => [name]), times: 1 }
  const ofTags = { keys: tagKeys.map((key) => [key]), times: eventsOfTag }
  const pairs = tagKeys.flatMap((key, tag) =>
    Array.from({ length: eventsOfTag }, (_, index) => [names[(tag + index) % events] ?? '', key]),
  )
  const fields = names.slice(0, 2).flatMap((name) => OWN_FIELDS.map((field) => [name, field]))
  return [
    { table: 'event_rollups', rates: EVENT_RATES, ...ofEvents },
    { table: 'signal_rollups', rates: SIGNAL_RATES, ...ofEvents },
    { table: 'tag_rollups', rates: TAG_RATES, ...ofTags },
    { table: 'tag_signal_rollups', rates: TAG_SIGNAL_RATES, ...ofTags },
    { table: 'event_tag_rollups', rates: PAIR_RATES, keys: pairs, times: 1 },
    { table: 'field_rollups', rates: FIELD_RATES, keys: fields, times: 1 },
  ]
}

/** Takes rows, and writes as many at once as are worth a transaction; null: what is left. */
function writer(store: Store): (spec: UpsertSpec | null, row?: readonly SqlValue[]) => Promise<void> {
  const waiting = new Map<UpsertSpec, SqlValue[]>()
  let rows = 0
  return async (spec, row = []) => {
    if (spec !== null) {
      const values = waiting.get(spec) ?? []
      for (const value of row) values.push(value)
      waiting.set(spec, values)
      rows++
      if (rows < ROWS_PER_BATCH) return
    }
    await store.batch(Array.from(waiting, ([of, values]) => ({ kind: 'upsert', spec: of, values })))
    waiting.clear()
    rows = 0
  }
}
