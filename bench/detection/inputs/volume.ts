import {
  type BucketCounts,
  type HourCounts,
  type LocalTime,
  type RecentCounts,
  type VolumeBaseline,
  volumeBaseline,
} from '../../../src/detection/index.ts'

import type { SiteHistory } from '../history.ts'
import { Sums } from '../sums.ts'
import { RUN_EVERY, SLOT, SLOTS, SLOTS_A_DAY, SLOTS_AN_HOUR, START, timeOf } from '../world.ts'

/** Six hours by five minutes, as the probe asks for them; the hours before stand alone. Half an hour by the minute. */
const FINE_SLOTS = 6 * SLOTS_AN_HOUR
const MINUTE_SLOTS = SLOTS_AN_HOUR / 2
const WEEKS = 4

/** What data_volume and data_freshness see at the start of a slot. */
export function volumeInputs(history: SiteHistory, clock: LocalTime) {
  const names = [...history.events.keys()]
  const sums = new Map(names.map((name) => [name, new Sums(history.events.get(name) ?? new Float64Array())] as const))
  const total = new Sums(history.total)
  const hours = new Map<number, HourCounts>()
  let last = { slot: -1, hour: -1 }
  let baseline: VolumeBaseline | null = null
  const knownFrom = START + history.site.bornOn * SLOTS_A_DAY * SLOT
  const firstEvent = history.total.findIndex((count) => count > 0)
  for (let slot = 0; slot < SLOTS; slot += SLOTS_AN_HOUR) {
    const events = new Map(
      names.map((name) => [name, sums.get(name)?.between(slot, slot + SLOTS_AN_HOUR) ?? 0] as const),
    )
    hours.set(timeOf(slot), { total: total.between(slot, slot + SLOTS_AN_HOUR), events })
  }
  let lastEvent = firstEvent
  return (slot: number) => {
    const hour = Math.floor(slot / SLOTS_AN_HOUR)
    if (hour !== last.hour || baseline === null) {
      baseline = volumeBaseline({ hours, knownFrom, outages: [] }, clock, timeOf(slot), WEEKS)
    }
    for (let at = Math.max(last.slot, 0); at < slot; at++) if ((history.total[at] ?? 0) > 0) lastEvent = at
    last = { slot, hour }
    // Hours may be compared with later weeks' hours of the past only: nothing newer than now is ever referred to.
    return { baseline, recent: recentAt(slot, total, sums), last_event_at: timeOf(lastEvent + 1) }
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
