import type { TagMissingInput } from '../../../src/detection/index.ts'
import type { SiteHistory } from '../history.ts'
import { Sums } from '../sums.ts'
import { SLOTS_A_DAY, SLOTS_AN_HOUR, timeOf } from '../world.ts'

const DAYS = 14
const HOURS = 24

/** What tag_missing sees at the start of a slot: days, hours and the last hour's minutes. */
export function missingInputs({ events, tags }: SiteHistory) {
  const occurrences = [...events].map(([event_name, series]) => ({ event_name, sums: new Sums(series) }))
  const executions = tags.map(({ tag, executions: series }) => ({ key: tag.key, sums: new Sums(series) }))
  const pairs = tags.flatMap(({ tag, onEvent }) =>
    [...onEvent].map(([event_name, series]) => ({ event_name, tag_key: tag.key, sums: new Sums(series) })),
  )
  return (slot: number): TagMissingInput => {
    const midnight = Math.floor(slot / SLOTS_A_DAY) * SLOTS_A_DAY
    const hour = Math.floor(slot / SLOTS_AN_HOUR) * SLOTS_AN_HOUR
    const dayEdges = edges(midnight, SLOTS_A_DAY, DAYS)
    const hourEdges = [...edges(hour, SLOTS_AN_HOUR, HOURS - 1), ...(slot > hour ? [slot] : [])]
    const slotEdges = edges(slot, 1, SLOTS_AN_HOUR)
    const within = (sums: Sums, at: readonly number[]) =>
      at.slice(1).map((to, index) => sums.between(at[index] ?? 0, to))
    const ranges = (at: readonly number[]) =>
      at.slice(1).map((to, index) => ({ from: timeOf(at[index] ?? 0), to: timeOf(to) }))
    return {
      days: ranges(dayEdges),
      hours: ranges(hourEdges),
      slots: ranges(slotEdges),
      events: occurrences.map(({ event_name, sums }) => ({
        event_name,
        days: within(sums, dayEdges),
        hours: within(sums, hourEdges),
        slots: within(sums, slotEdges),
      })),
      pairs: pairs.map(({ event_name, tag_key, sums }) => ({
        event_name,
        tag_key,
        days: within(sums, dayEdges),
        hours: within(sums, hourEdges),
      })),
      executions: new Map(executions.map(({ key, sums }) => [key, within(sums, slotEdges)] as const)),
    }
  }
}

/** Ends of `count` buckets of one length, the last of which ends at `to`, and the start of the first. */
const edges = (to: number, length: number, count: number): number[] =>
  Array.from({ length: count + 1 }, (_, index) => to - (count - index) * length)
