import {
  type LatencyBucket,
  type LocalTime,
  type OutcomeBucket,
  sameHoursBefore,
} from '../../../src/detection/index.ts'
import { floorTo, HOUR } from '../../../src/lib/index.ts'
import type { TagHistory } from '../counts.ts'
import { BOUNDS, type SiteHistory } from '../history.ts'
import { RUN_EVERY, SLOT, SLOTS, SLOTS_A_DAY, SLOTS_AN_HOUR, START, timeOf } from '../world.ts'

const BUCKETS = BOUNDS.length + 1
const USUAL_DAYS = 7

/** The last 24 hours of each tag's outcomes at the start of a slot. */
export function outcomeInputs({ tags }: SiteHistory) {
  const all = tags.map((tag) => ({ tag_key: tag.tag.key, ...filled((slot) => outcomeBucket(tag, slot)) }))
  return (slot: number) => all.map(({ tag_key, last }) => ({ tag_key, buckets: last(slot) }))
}

function outcomeBucket({ executions, bad }: TagHistory, slot: number): OutcomeBucket | null {
  const inBucket = (series: Float64Array): number => sum(series.subarray(slot, slot + RUN_EVERY))
  const [of, failure] = [inBucket(executions), inBucket(bad)]
  if (of === 0) return null
  return { from: timeOf(slot), to: timeOf(slot + RUN_EVERY), success: of - failure, failure, timeout: 0, exception: 0 }
}

/** The last 24 hours of each tag's durations, and the same hours of the week before. */
export function latencyInputs({ tags }: SiteHistory, clock: LocalTime) {
  const all = tags.map((tag) => ({ tag, ...filled((slot) => latencyBucket(tag, slot, RUN_EVERY)) }))
  const usual = new Map<TagHistory, LatencyBucket[]>()
  let lastHour = -1
  return (slot: number) => {
    const hour = floorTo(timeOf(slot), HOUR)
    if (hour !== lastHour) for (const { tag } of all) usual.set(tag, usualHours(tag, hour, clock))
    lastHour = hour
    return all.map(({ tag, last }) => ({ tag_key: tag.tag.key, recent: last(slot), usual: usual.get(tag) ?? [] }))
  }
}

function usualHours(tag: TagHistory, hour: number, clock: LocalTime): LatencyBucket[] {
  return [-HOUR, 0, HOUR]
    .flatMap((shift) => sameHoursBefore(clock, hour + shift, 1, USUAL_DAYS))
    .filter((time) => time >= START)
    .map((time) => latencyBucket(tag, (time - START) / SLOT, SLOTS_AN_HOUR))
    .filter((bucket) => bucket !== null)
}

function latencyBucket(tag: TagHistory, slot: number, length: number): LatencyBucket | null {
  const histogram = Array.from({ length: BUCKETS }, () => 0)
  const executions = sum(tag.executions.subarray(slot, slot + length))
  const success = executions - sum(tag.bad.subarray(slot, slot + length))
  const timeout = sum(tag.timeouts.subarray(slot, slot + length))
  let totalMs = 0
  for (let at = slot / RUN_EVERY; at < (slot + length) / RUN_EVERY; at++) {
    totalMs += tag.totalMs[at] ?? 0
    for (let bucket = 0; bucket < BUCKETS; bucket++) {
      histogram[bucket] = (histogram[bucket] ?? 0) + (tag.histogram[at * BUCKETS + bucket] ?? 0)
    }
  }
  if (executions === 0) return null
  return { from: timeOf(slot), to: timeOf(slot + length), histogram, executions, success, timeout, total_ms: totalMs }
}

const sum = (values: Float64Array): number => values.reduce((total, value) => total + value, 0)

/** All buckets of five minutes that are not empty, made once, and a look at those of the 24 hours before a slot. */
export function filled<B>(bucketAt: (slot: number) => B | null): { last: (slot: number) => B[] } {
  const buckets: B[] = []
  /** How many buckets there are before each slot that a run may start at. */
  const before = new Uint32Array(SLOTS + 1)
  for (let slot = 0; slot < SLOTS; slot += RUN_EVERY) {
    before[slot] = buckets.length
    const bucket = bucketAt(slot)
    if (bucket !== null) buckets.push(bucket)
  }
  before[SLOTS] = buckets.length
  return { last: (slot) => buckets.slice(before[Math.max(0, slot - SLOTS_A_DAY)], before[slot]) }
}
