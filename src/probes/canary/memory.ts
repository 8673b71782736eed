import type { Outage } from '../../cluster/index.ts'
import { fieldsOf } from '../../lib/index.ts'
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
  }
}

export const inMemory = ({ waiting, last }: CanaryMemory): JsonObject => ({
  waiting: waiting.map(({ name, at }) => ({ name, at })),
  last: last === null ? null : { sent_at: last.sentAt, arrived_at: last.arrivedAt },
})

export function withSent({ waiting, last }: CanaryMemory, sent: SentCanary): CanaryMemory {
  const all = [...waiting, sent]
  return { waiting: all.length > WAITING_MAX ? [...all.slice(0, 1), ...all.slice(2)] : all, last }
}

/** Returns the memory after these arrivals. Canaries sent before the latest arrived one no longer matter. */
export function withArrivals(memory: CanaryMemory, arrivedAt: ReadonlyMap<string, number>): CanaryMemory {
  const last = memory.waiting
    .flatMap(({ name, at }) => {
      const arrived = arrivedAt.get(name)
      return arrived === undefined ? [] : [{ sentAt: at, arrivedAt: arrived }]
    })
    .reduce<CanaryArrival | null>(
      (latest, one) => (latest === null || one.sentAt > latest.sentAt ? one : latest),
      memory.last,
    )
  if (last === null) return memory
  return { waiting: memory.waiting.filter(({ at }) => at > last.sentAt), last }
}

/** Returns the memory without the canaries that may have been refused because this service was down. */
export const withoutRefused = (memory: CanaryMemory, limitMs: number, outages: readonly Outage[]): CanaryMemory => ({
  ...memory,
  waiting: memory.waiting.filter(({ at }) => !outages.some(({ from, to }) => from < at + limitMs && to > at)),
})
