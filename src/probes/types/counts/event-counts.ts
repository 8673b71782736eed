import { type Snapshot, sumStretches, totals } from '../../../analytics/index.ts'
import type { HourCounts, RecentCounts } from '../../../detection/index.ts'
import { floorTo, HOUR } from '../../../lib/index.ts'
import { GRAIN, NO_EVENT, OTHER } from '../../../rollups/index.ts'
import { SLOT, stretchesOf, type Timeline } from './timeline.ts'

const MEASURES = totals(['events', 'total'])

export interface EventCounts {
  recent: RecentCounts
  /** By the start of the UTC hour; an hour without events is missing. */
  hours: Map<number, HourCounts>
  /** Start of the first whole hour of which the site has rows; null when there is none. */
  knownFrom: number | null
}

/** Events of a site by name: in the buckets of the timeline, and in other hours before its slots begin. */
export async function readEventCounts(
  snapshot: Snapshot,
  timeline: Timeline,
  end: number,
  hours: readonly number[],
): Promise<EventCounts> {
  const { slotsFrom, buckets } = timeline
  const wholeHours = [...buckets.filter(({ from }) => from < slotsFrom).map(({ from }) => from), ...hours]
  const rows = await sumStretches(snapshot, {
    table: 'event_rollups',
    stretches: [
      ...stretchesOf(wholeHours).map((range) => ({ ...range, coarsest: GRAIN.hour })),
      { from: slotsFrom, to: end, coarsest: GRAIN.minute },
    ],
    by: ['event_name'],
    measures: MEASURES,
    slots: { length: SLOT, end },
  })
  const byHour = new Map<number, Counts>()
  const bySlot = new Map<number, Counts>()
  for (const { at, event_name, events, total } of rows) {
    if (at < slotsFrom) add(byHour, floorTo(at, HOUR), event_name, events, total)
    else add(bySlot, timeline.indexAt(at), event_name, events, total)
  }
  const inBuckets = buckets.map(({ from }, index) => (from < slotsFrom ? byHour.get(from) : bySlot.get(index)))
  const names = new Set(inBuckets.flatMap((counts) => [...(counts?.events.keys() ?? [])]))
  return {
    recent: {
      buckets,
      total: inBuckets.map((counts) => counts?.total ?? 0),
      events: new Map(Array.from(names, (name) => [name, inBuckets.map((counts) => counts?.events.get(name) ?? 0)])),
    },
    hours: byHour,
    knownFrom: await firstWholeHour(snapshot),
  }
}

interface Counts extends HourCounts {
  total: number
  events: Map<string, number>
}

function add(counts: Map<number, Counts>, key: number, name: string, events: number, total: number): void {
  const known = counts.get(key) ?? { total: 0, events: new Map<string, number>() }
  known.total += total
  // What is counted together over the cardinality cap is other events every day.
  if (name !== NO_EVENT && name !== OTHER) known.events.set(name, (known.events.get(name) ?? 0) + events)
  counts.set(key, known)
}

/** The hour in which the site's history begins is cut: the one after it is the first that can be compared with. */
async function firstWholeHour({ db, siteNo }: Snapshot): Promise<number | null> {
  const { bucket } = await db
    .selectFrom('event_rollups')
    .select((eb) => eb.fn.min<number | null>('bucket').as('bucket'))
    .where('site_no', '=', siteNo)
    .where('grain', '=', GRAIN.hour)
    .executeTakeFirstOrThrow()
  return bucket === null ? null : floorTo(bucket, HOUR) + HOUR
}
