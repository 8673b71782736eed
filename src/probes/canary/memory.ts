import type { Outage } from '../../cluster/index.ts'
import { fieldsOf, MINUTE } from '../../lib/index.ts'
import type { JsonObject } from '../probe-type.ts'

/** A canary that was delivered. Times are epoch ms. */
export interface SentCanary {
  name: string
  at: number
}

export interface CanaryArrival {
  sentAt: number
  arrivedAt: number
}

export interface CanaryMemory {
  /** Delivered, but not seen at ingest yet; oldest first. */
  waiting: readonly SentCanary[]
  /** The latest sent of all that arrived. */
  last: CanaryArrival | null
  /** The longest that canaries took of late, ms; null when none arrived. A batch brings the latest sooner than the first. */
  slowestMs: number | null
}

/** The oldest says since when canaries are missing; the arrival of any other one ends that. So dropping the second loses nothing. */
const WAITING_MAX = 50

/** Another version of Tagwarden may have written it. */
export function memoryOf(memory: JsonObject): CanaryMemory {
  const { sent_at: sentAt, arrived_at: arrivedAt } = fieldsOf(memory.last)
  const waiting = Array.isArray(memory.waiting) ? memory.waiting : []
  return {
    waiting: waiting.flatMap((entry: unknown) => {
      const { name, at } = fieldsOf(entry)
      return typeof name === 'string' && typeof at === 'number' ? [{ name, at }] : []
    }),
    last: typeof sentAt === 'number' && typeof arrivedAt === 'number' ? { sentAt, arrivedAt } : null,
    slowestMs: typeof memory.slowest_ms === 'number' ? memory.slowest_ms : null,
  }
}

export const inMemory = ({ waiting, last, slowestMs }: CanaryMemory): JsonObject => ({
  waiting: waiting.map(({ name, at }) => ({ name, at })),
  last: last === null ? null : { sent_at: last.sentAt, arrived_at: last.arrivedAt },
  slowest_ms: slowestMs,
})

export function withSent(memory: CanaryMemory, sent: SentCanary): CanaryMemory {
  const all = [...memory.waiting, sent]
  return { ...memory, waiting: all.length > WAITING_MAX ? [...all.slice(0, 1), ...all.slice(2)] : all }
}

/** How much of the slowest time each look forgets in which canaries arrived. */
const KEPT_SHARE = 0.75

/** Returns the memory after these arrivals. Canaries sent before the latest arrived one no longer matter. */
export function withArrivals(memory: CanaryMemory, arrivedAt: ReadonlyMap<string, number>): CanaryMemory {
  const arrivals = memory.waiting.flatMap(({ name, at }) => {
    const arrived = arrivedAt.get(name)
    return arrived === undefined ? [] : [{ sentAt: at, arrivedAt: arrived }]
  })
  const last = arrivals.reduce(
    (latest, one) => (latest === null || one.sentAt > latest.sentAt ? one : latest),
    memory.last,
  )
  if (last === null) return memory
  const times = arrivals.map((one) => one.arrivedAt - one.sentAt)
  const slowestMs = times.length === 0 ? memory.slowestMs : Math.max(...times, KEPT_SHARE * (memory.slowestMs ?? 0))
  return { waiting: memory.waiting.filter(({ at }) => at > last.sentAt), last, slowestMs }
}

/**
 * Returns the memory without the canaries that may have been refused because this service was down: those that were sent or due
 * then. A canary whose kind arrives within seconds is not due hours later, even if its limit allows that.
 */
export function withoutRefused(memory: CanaryMemory, limitMs: number, outages: readonly Outage[]): CanaryMemory {
  const dueMs = memory.slowestMs === null ? limitMs : Math.min(limitMs, 2 * memory.slowestMs + MINUTE)
  return {
    ...memory,
    waiting: memory.waiting.filter(({ at }) => !outages.some(({ from, to }) => from < at + dueMs && to > at)),
  }
}

/**
 * Canaries that have taken longer than the limit.
 *
 * @param listened when a process was last known to accept events; null when unknown. An outage is recorded only when it ends, so a
 *   canary whose time ends later may have met one that is under way.
 */
export const overdue = (
  { waiting }: CanaryMemory,
  limitMs: number,
  now: number,
  listened: number | null = null,
): readonly SentCanary[] =>
  waiting.filter(({ at }) => now - at >= limitMs && (listened === null || listened >= at + limitMs))
