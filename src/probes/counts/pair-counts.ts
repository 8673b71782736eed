import { identityOf, type Snapshot, type Stretch, sumStretches } from '../../analytics/index.ts'
import type { TagMissingInput } from '../../detection/index.ts'
import { DAY, floorTo, HOUR, MINUTE } from '../../lib/index.ts'
import { GRAIN, isNamed, OUTCOMES, type TimeRange } from '../../rollups/index.ts'

const DAYS = 14

/** The buckets in which `tag_missing` looks for tags that do not run on their events. */
export interface PairBuckets {
  /** The whole UTC days before today, oldest first. */
  readonly days: readonly TimeRange[]
  /** UTC hours up to the current one, which ends with the current minute. */
  readonly hours: readonly TimeRange[]
  /** The minutes of the last hour. */
  readonly slots: readonly TimeRange[]
}

/**
 * Includes the current minute: tags on events are counted by the hour only, so both sides of the comparison must end where
 * the snapshot does.
 */
export function pairBuckets(now: number): PairBuckets {
  const end = floorTo(now, MINUTE) + MINUTE
  const today = floorTo(now, DAY)
  const hour = floorTo(now, HOUR)
  return {
    days: before(today, DAY, DAYS),
    hours: [...before(hour, HOUR, 23), { from: hour, to: end }],
    slots: before(end, MINUTE, HOUR / MINUTE),
  }
}

const before = (end: number, size: number, count: number): TimeRange[] =>
  Array.from({ length: count }, (_, index) => {
    const from = end - (count - index) * size
    return { from, to: from + size }
  })

/** Runs of tags on events, a number per bucket, by stored names: the name that a tag is shown under may change at any time. */
type StoredPairs = ReadonlyMap<string, readonly number[]>

/** The part that hardly changes any more, so it can be cached. */
export interface PastPairs {
  /** The days, and the hours without the last `OPEN_HOURS`. */
  days: StoredPairs
  hours: StoredPairs
}

/** Late counts rarely arrive later than this. */
const OPEN_HOURS = 3

export async function readPastPairs(snapshot: Snapshot, { days, hours }: PairBuckets): Promise<PastPairs> {
  const closed = hours.slice(0, -OPEN_HOURS)
  return {
    days: await storedPairs(snapshot, days, DAY, { ...spanOf(days), coarsest: GRAIN.day }),
    hours: await storedPairs(snapshot, closed, HOUR, { ...spanOf(closed), coarsest: GRAIN.hour }),
  }
}

async function storedPairs(
  snapshot: Snapshot,
  buckets: readonly TimeRange[],
  length: number,
  stretch: Stretch,
): Promise<Map<string, number[]>> {
  const rows = await sumStretches(snapshot, {
    table: 'event_tag_rollups',
    stretches: [stretch],
    by: ['container_id', 'event_name', 'tag_key'],
    columns: OUTCOMES,
    slots: { length, end: stretch.to },
  })
  const nameOf = ({ container_id, event_name, tag_key }: PairNames) =>
    isNamed(event_name) && isNamed(tag_key) ? JSON.stringify([container_id, event_name, tag_key]) : null
  return countsIn(buckets, rows, nameOf, runsOf)
}

interface PairNames {
  container_id: string
  event_name: string
  tag_key: string
}

/** The same by the current keys of the tags. */
function pairsBy(keyOf: (containerId: string, tagKey: string) => string, stored: StoredPairs): Map<string, number[]> {
  const pairs = new Map<string, number[]>()
  for (const [names, counts] of stored) {
    const [containerId, eventName, tagKey] = JSON.parse(names) as [string, string, string]
    const pair = JSON.stringify([eventName, keyOf(containerId, tagKey)])
    const known = pairs.get(pair)
    pairs.set(pair, known === undefined ? [...counts] : known.map((count, index) => count + (counts[index] ?? 0)))
  }
  return pairs
}

/**
 * Concatenates the hours of both.
 *
 * @param none zeros for a pair that one of them lacks
 */
function joined(
  closed: ReadonlyMap<string, readonly number[]>,
  open: ReadonlyMap<string, readonly number[]>,
  none: { closed: readonly number[]; open: readonly number[] },
): Map<string, number[]> {
  return new Map(
    Array.from(new Set([...closed.keys(), ...open.keys()]), (pair) => [
      pair,
      [...(closed.get(pair) ?? none.closed), ...(open.get(pair) ?? none.open)],
    ]),
  )
}

/**
 * Reads how often each event came, and each tag on it. Events that a sender sent once for many count only as much as they
 * prove: one without a tag is not ten in a row, see `provenBy`.
 */
export async function readPairCounts(
  snapshot: Snapshot,
  buckets: PairBuckets,
  past: PastPairs,
): Promise<TagMissingInput> {
  const { keyOf } = await identityOf(snapshot.db, snapshot.siteNo)
  const days: Stretch = { ...spanOf(buckets.days), coarsest: GRAIN.day }
  const hours: Stretch = { ...spanOf(buckets.hours), coarsest: GRAIN.hour }
  const slots: Stretch = { ...spanOf(buckets.slots), coarsest: GRAIN.minute }
  const grid = { length: MINUTE, end: slots.to }
  const eventRows = (stretch: Stretch) =>
    sumStretches(snapshot, {
      table: 'event_rollups',
      stretches: [stretch],
      by: ['event_name'],
      columns: ['events'],
      slots: grid,
    })
  const excessRows = (stretch: Stretch) =>
    sumStretches(snapshot, {
      table: 'signal_rollups',
      stretches: [stretch],
      by: ['event_name'],
      columns: ['weight_excess'],
      slots: grid,
    })
  const nameOf = ({ event_name }: { event_name: string }) => (isNamed(event_name) ? event_name : null)
  const eventsIn = {
    days: countsIn(buckets.days, await eventRows(days), nameOf, ({ events }) => events),
    hours: countsIn(buckets.hours, await eventRows(hours), nameOf, ({ events }) => events),
    slots: countsIn(buckets.slots, await eventRows(slots), nameOf, ({ events }) => events),
  }
  const excessOf = ({ weight_excess }: { weight_excess: number }) => weight_excess
  const excessIn = {
    days: countsIn(buckets.days, await excessRows(days), nameOf, excessOf),
    hours: countsIn(buckets.hours, await excessRows(hours), nameOf, excessOf),
    slots: countsIn(buckets.slots, await excessRows(slots), nameOf, excessOf),
  }
  const open = buckets.hours.slice(-OPEN_HOURS)
  const openHours = { ...spanOf(open), coarsest: GRAIN.hour }
  const pairsIn = {
    days: pairsBy(keyOf, past.days),
    hours: joined(
      pairsBy(keyOf, past.hours),
      // Pairs have no minute rows, so the current hour is read as a whole.
      pairsBy(
        keyOf,
        await storedPairs(snapshot, open, HOUR, { ...openHours, to: floorTo(openHours.to - 1, HOUR) + HOUR }),
      ),
      { closed: zeros(buckets.hours.slice(0, -OPEN_HOURS)), open: zeros(open) },
    ),
  }
  const tagRows = await sumStretches(snapshot, {
    table: 'tag_rollups',
    stretches: [slots],
    by: ['container_id', 'tag_key'],
    columns: ['executions'],
    slots: grid,
  })
  const proven = (counts: readonly number[], grain: 'days' | 'hours' | 'slots', name: string) =>
    provenBy(counts, eventsIn[grain].get(name) ?? [], excessIn[grain].get(name))
  const [allEvents, allExcess] = [eventsIn.slots, excessIn.slots].map((counts) => sumOf(buckets.slots, counts))
  const pairs = [...new Set([...pairsIn.days.keys(), ...pairsIn.hours.keys()])]
  const names = [...new Set([...eventsIn.days.keys(), ...eventsIn.hours.keys()])]
  return {
    ...buckets,
    events: names.map((event_name) => ({
      event_name,
      days: proven(eventsIn.days.get(event_name) ?? zeros(buckets.days), 'days', event_name),
      hours: proven(eventsIn.hours.get(event_name) ?? zeros(buckets.hours), 'hours', event_name),
      slots: proven(eventsIn.slots.get(event_name) ?? zeros(buckets.slots), 'slots', event_name),
    })),
    pairs: pairs.map((pair) => {
      const [event_name, tag_key] = JSON.parse(pair) as [string, string]
      return {
        event_name,
        tag_key,
        days: proven(pairsIn.days.get(pair) ?? zeros(buckets.days), 'days', event_name),
        hours: proven(pairsIn.hours.get(pair) ?? zeros(buckets.hours), 'hours', event_name),
      }
    }),
    executions: new Map(
      Array.from(
        countsIn(
          buckets.slots,
          tagRows,
          ({ container_id, tag_key }) => keyOf(container_id, tag_key),
          ({ executions }) => executions,
        ),
        ([tag, counts]) => [tag, provenBy(counts, allEvents ?? [], allExcess)] as const,
      ),
    ),
  }
}

/**
 * Reduces counts of weighted events to what they prove: divided by the average weight of the events sent (Kish 1965,
 * effective sample size). Without weights, they stay as they are.
 *
 * @param events of each bucket
 * @param excess `weight_excess` of each bucket; undefined when there is none
 */
function provenBy(
  counts: readonly number[],
  events: readonly number[],
  excess: readonly number[] | undefined,
): readonly number[] {
  if (excess === undefined) return counts
  return counts.map((count, index) => {
    const [number, over] = [events[index] ?? 0, excess[index] ?? 0]
    return over === 0 || number === 0 ? count : Math.round((count * number) / (number + over))
  })
}

const sumOf = (buckets: readonly TimeRange[], byName: ReadonlyMap<string, readonly number[]>): number[] =>
  buckets.map((_, index) => [...byName.values()].reduce((sum, counts) => sum + (counts[index] ?? 0), 0))

const runsOf = (row: Record<(typeof OUTCOMES)[number], number>): number =>
  OUTCOMES.reduce((sum, outcome) => sum + row[outcome], 0)

const zeros = (buckets: readonly TimeRange[]): number[] => buckets.map(() => 0)

const spanOf = (buckets: readonly TimeRange[]): TimeRange => ({
  from: buckets[0]?.from ?? 0,
  to: buckets.at(-1)?.to ?? 0,
})

/** Sums rows by key, one number per bucket. All buckets have the same length, except the last. */
function countsIn<R extends { at: number }>(
  buckets: readonly TimeRange[],
  rows: readonly R[],
  keyOf: (row: R) => string | null,
  countOf: (row: R) => number,
): Map<string, number[]> {
  const [first] = buckets
  const counts = new Map<string, number[]>()
  if (first === undefined) return counts
  for (const row of rows) {
    const key = keyOf(row)
    if (key === null) continue
    const ofKey = counts.get(key) ?? zeros(buckets)
    const index = Math.floor((row.at - first.from) / (first.to - first.from))
    ofKey[index] = (ofKey[index] ?? 0) + countOf(row)
    counts.set(key, ofKey)
  }
  return counts
}
