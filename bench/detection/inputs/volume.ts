import {
  type BucketCounts,
  type HourCounts,
  type LocalTime,
  type Multiples,
  REPEAT_HOURS,
  type RecentCounts,
  type UsualCounts,
  usualCounts,
} from '../../../src/detection/index.ts'
import type { SiteHistory } from '../history.ts'
import { Sums } from '../sums.ts'
import { RUN_EVERY, SLOT, SLOTS, SLOTS_A_DAY, SLOTS_AN_HOUR, START, timeOf } from '../world.ts'

/** Six hours by five minutes, as the probe asks for them; the hours before stand alone. Half an hour by the minute. */
const FINE_SLOTS = 6 * SLOTS_AN_HOUR
const MINUTE_SLOTS = SLOTS_AN_HOUR / 2
const WEEKS = 4
/** As the probe does, from a site's fourth day on. */
const RELEARN_HOURS = 3
const FIRST_DAYS = 4

/** How events came by the minute in the hours before a slot, newest first. */
export function repeatInputs({ events }: SiteHistory) {
  const multiples = new Map(
    [...events].map(([name, counts]) => [
      name,
      {
        minutes: new Sums(counts.map((count) => Math.min(count, 1))),
        twos: new Sums(counts.map((count) => Number(count > 0 && count % 2 === 0))),
        threes: new Sums(counts.map((count) => Number(count > 0 && count % 3 === 0))),
      },
    ]),
  )
  const hours = REPEAT_HOURS.now + REPEAT_HOURS.before
  return (slot: number, names: readonly string[]): Map<string, Multiples[]> =>
    new Map(
      names.map((name) => [
        name,
        Array.from({ length: hours }, (_, hour) => {
          const [from, to] = [slot - (hour + 1) * SLOTS_AN_HOUR, slot - hour * SLOTS_AN_HOUR]
          const of = multiples.get(name)
          const sum = (column: keyof Multiples) => of?.[column].between(from, to) ?? 0
          return { minutes: sum('minutes'), twos: sum('twos'), threes: sum('threes') }
        }),
      ]),
    )
}

/** What data_volume and data_freshness see at the start of a slot. @param relearnHours how often it is learnt what is usual, which takes most of the time of a replay */
export function volumeInputs(history: SiteHistory, clock: LocalTime, relearnHours = RELEARN_HOURS) {
  const names = [...history.events.keys()]
  const sums = new Map(names.map((name) => [name, new Sums(history.events.get(name) ?? new Float64Array())] as const))
  const total = new Sums(history.total)
  const special = ((history as { benign?: readonly { kind: string; from: number; to: number }[] }).benign ?? [])
    .filter(({ kind }) => kind === 'holiday')
    .map(({ from, to }) => ({ from: timeOf(from), to: timeOf(to) }))
  const hours = new Map<number, HourCounts>()
  const known = {
    hours,
    knownFrom: START + history.site.bornOn * SLOTS_A_DAY * SLOT,
    outages: [],
    special: special,
  }
  const firstEvent = history.total.findIndex((count) => count > 0)
  for (let slot = 0; slot < SLOTS; slot += SLOTS_AN_HOUR) {
    const events = new Map(
      names.map((name) => [name, sums.get(name)?.between(slot, slot + SLOTS_AN_HOUR) ?? 0] as const),
    )
    hours.set(timeOf(slot), {
      total: total.between(slot, slot + SLOTS_AN_HOUR),
      events: new Map([...events].filter(([, count]) => count > 0)),
    })
  }
  let last: { slot: number; hour: number; usual: UsualCounts } | null = null
  let lastEvent = firstEvent
  return (slot: number) => {
    const isYoung = slot < (history.site.bornOn + FIRST_DAYS) * SLOTS_A_DAY
    const hour = Math.floor(slot / SLOTS_AN_HOUR / (isYoung ? RELEARN_HOURS : relearnHours))
    const usual = last?.hour === hour ? last.usual : usualCounts(known, clock, timeOf(slot), WEEKS)
    for (let at = Math.max(last?.slot ?? 0, 0); at < slot; at++) if ((history.total[at] ?? 0) > 0) lastEvent = at
    last = { slot, hour, usual }
    return { usual, recent: recentAt(slot, total, sums), last_event_at: timeOf(lastEvent + 1) }
  }
}

function recentAt(slot: number, total: Sums, sums: ReadonlyMap<string, Sums>): RecentCounts {
  const edges: number[] = []
  const fineFrom = slot - FINE_SLOTS
  const firstHour = Math.ceil((slot - SLOTS_A_DAY) / SLOTS_AN_HOUR) * SLOTS_AN_HOUR
  for (let at = firstHour; at < fineFrom; at += SLOTS_AN_HOUR) edges.push(at)
  for (let at = fineFrom; at <= slot; at += RUN_EVERY) edges.push(at)
  const minuteEdges = Array.from({ length: MINUTE_SLOTS + 1 }, (_, index) => slot - MINUTE_SLOTS + index)
  return { ...countsBetween(edges, total, sums), minutes: countsBetween(minuteEdges, total, sums) }
}

function countsBetween(edges: readonly number[], total: Sums, sums: ReadonlyMap<string, Sums>): BucketCounts {
  const counts = (series: Sums) => edges.slice(1).map((to, index) => series.between(edges[index] ?? 0, to))
  return {
    buckets: edges.slice(1).map((to, index) => ({ from: timeOf(edges[index] ?? 0), to: timeOf(to) })),
    total: counts(total),
    events: new Map([...sums].map(([name, series]) => [name, counts(series)] as const)),
  }
}
