import { type Snapshot, sumStretches } from '../../analytics/index.ts'
import { isLongOutage, type Outage, readOutages } from '../../cluster/index.ts'
import {
  type BucketCounts,
  type HourCounts,
  type HourHistory,
  type RecentCounts,
  withoutOutages,
} from '../../detection/index.ts'
import { floorTo, HOUR, MINUTE, Yielder } from '../../lib/index.ts'
import { GRAIN, isNamed, NO_EVENT, type TimeRange } from '../../rollups/index.ts'
import { merged } from '../../uptime/index.ts'
import { lastDay, SLOT } from './timeline.ts'

const COLUMNS = ['events', 'total'] as const
/** Rows handled without yielding: about 2 ms. Four weeks of 500 events have 300,000. */
const ROWS_PER_TURN = 5_000
/** How much of the last day is read in slots of five minutes; the hours before show how a fall came. */
const SLOTS_FOR_MS = 6 * HOUR
/** The newest minutes, where a silence is measured by the minute. For longer silences, five minutes make little difference. */
const MINUTES = 30

export interface EventCounts {
  recent: RecentCounts
  /** By the start of the UTC hour; hours without events are missing. */
  hours: Map<number, HourCounts>
  /** Start of the first whole hour in which the site has rows; null when there is none. */
  knownFrom: number | null
  /** When nothing could be counted: the service was down, or the site paused. `recent` leaves out what was counted around the long ones. */
  outages: readonly Outage[]
}

/**
 * Reads a site's events of the last day.
 *
 * @param end end of the day, a whole minute
 * @param compared further whole hours to read; null for none
 * @param pauses of the site
 * @param byName whether to read each event or all together: a large site has 40 rows instead of one
 */
export async function readEventCounts(
  snapshot: Snapshot,
  end: number,
  compared: TimeRange | null,
  pauses: readonly TimeRange[],
  byName: boolean,
): Promise<EventCounts> {
  const { slotsFrom, buckets, indexAt } = lastDay(end, SLOTS_FOR_MS)
  const dayFrom = buckets[0]?.from ?? slotsFrom
  const rows = await sumStretches(snapshot, {
    table: 'event_rollups',
    stretches: [
      { from: compared?.from ?? dayFrom, to: slotsFrom, coarsest: GRAIN.hour },
      { from: slotsFrom, to: end, coarsest: GRAIN.minute },
    ],
    by: byName ? ['event_name'] : [],
    columns: COLUMNS,
    slots: { length: SLOT, end },
  })
  const byHour = new Map<number, Counts>()
  const bySlot = new Map<number, Counts>()
  const others = new Yielder()
  // Rows that are not grouped by name have no `event_name`.
  for (const [index, { at, event_name = NO_EVENT, events, total }] of rows.entries()) {
    if (index % ROWS_PER_TURN === 0) await others.yield()
    if (at < slotsFrom || compared !== null) add(byHour, floorTo(at, HOUR), event_name, events, total)
    if (at >= slotsFrom) add(bySlot, indexAt(at), event_name, events, total)
  }
  const inBuckets = buckets.map(({ from }, index) => (from < slotsFrom ? byHour.get(from) : bySlot.get(index)))
  const outages = merged([...(await readOutages(snapshot.db, compared?.from ?? dayFrom, end)), ...pauses])
  const recent = { ...bucketCounts(buckets, inBuckets), minutes: await minuteCounts(snapshot, end, byName) }
  return {
    recent: withoutOutages(recent, outages.filter(isLongOutage)),
    hours: byHour,
    knownFrom: await firstWholeHour(snapshot),
    outages,
  }
}

/** The history for `usualCounts`. */
export const historyOf = (
  { hours, knownFrom, outages }: EventCounts,
  end: number,
): Pick<HourHistory, 'hours' | 'knownFrom' | 'outages'> => ({
  hours,
  knownFrom: knownFrom ?? end,
  outages: outages.filter(isLongOutage),
})

async function minuteCounts(snapshot: Snapshot, end: number, byName: boolean): Promise<BucketCounts> {
  const start = end - MINUTES * MINUTE
  const rows = await sumStretches(snapshot, {
    table: 'event_rollups',
    stretches: [{ from: start, to: end, coarsest: GRAIN.minute }],
    by: byName ? ['event_name'] : [],
    columns: COLUMNS,
    slots: { length: MINUTE, end },
  })
  const byMinute = new Map<number, Counts>()
  for (const { at, event_name = NO_EVENT, events, total } of rows) add(byMinute, at, event_name, events, total)
  const buckets = Array.from({ length: MINUTES }, (_, minute) => {
    const from = start + minute * MINUTE
    return { from, to: from + MINUTE }
  })
  return bucketCounts(
    buckets,
    buckets.map(({ from }) => byMinute.get(from)),
  )
}

function bucketCounts(buckets: readonly TimeRange[], counts: readonly (Counts | undefined)[]): BucketCounts {
  const names = new Set(counts.flatMap((inBucket) => [...(inBucket?.events.keys() ?? [])]))
  return {
    buckets,
    total: counts.map((inBucket) => inBucket?.total ?? 0),
    events: new Map(Array.from(names, (name) => [name, counts.map((inBucket) => inBucket?.events.get(name) ?? 0)])),
  }
}

interface Counts extends HourCounts {
  total: number
  events: Map<string, number>
}

function add(counts: Map<number, Counts>, key: number, name: string, events: number, total: number): void {
  const known = counts.get(key) ?? { total: 0, events: new Map<string, number>() }
  known.total += total
  // Beyond the cardinality cap, `OTHER` contains different events each day.
  if (isNamed(name)) known.events.set(name, (known.events.get(name) ?? 0) + events)
  counts.set(key, known)
}

/** The history's first hour is incomplete, so the one after it is the first to compare with. */
async function firstWholeHour({ db, siteNo }: Snapshot): Promise<number | null> {
  const { bucket } = await db
    .selectFrom('event_rollups')
    .select((eb) => eb.fn.min<number | null>('bucket').as('bucket'))
    .where('site_no', '=', siteNo)
    .where('grain', '=', GRAIN.hour)
    .executeTakeFirstOrThrow()
  return bucket === null ? null : floorTo(bucket, HOUR) + HOUR
}
