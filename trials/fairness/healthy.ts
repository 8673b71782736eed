import { setTimeout as sleep } from 'node:timers/promises'
import { median } from '../../bench/lib/statistics.ts'
import type { LoadFigures } from '../soak/load/figures.ts'

/** What the healthy senders met beside one kind of hostile sender. Times from when a request was due. */
export interface Healthy {
  /** Medians of the parts: see `watchInParts`. */
  p50Ms: number
  p99Ms: number
  maxMs: number
  statuses: Record<string, number>
  /** Requests without an answer 200. */
  notAccepted: number
}

/**
 * A machine that others share stands still for up to 300 ms now and then, and in half a minute one such pause makes a p99 of 20 ms one of
 * 140. It falls into one part. What a hostile sender does all the time is in all of them.
 */
const PARTS = 5

/** Takes figures in parts of equal length, `seconds` in all. The last part ends when `attack` has ended. */
export async function watchInParts<Result>(
  seconds: number,
  attack: Promise<Result>,
  take: () => Promise<LoadFigures>,
): Promise<{ healthy: Healthy; result: Result }> {
  const parts: LoadFigures[] = []
  const watch = async () => {
    for (let part = 1; part < PARTS; part++) {
      await sleep((seconds * 1_000) / PARTS)
      parts.push(await take())
    }
  }
  const [result] = await Promise.all([attack, watch()])
  parts.push(await take())
  return { healthy: healthyFigures(parts), result }
}

/** The parts as one: medians of their percentiles, the longest of all, the sum of their answers. */
export function healthyFigures(parts: readonly LoadFigures[]): Healthy {
  const statuses: Record<string, number> = {}
  let notAccepted = 0
  for (const part of parts) {
    notAccepted += part.unanswered + part.givenUp
    for (const [status, count] of Object.entries(part.statuses)) {
      statuses[status] = (statuses[status] ?? 0) + count
      if (status !== '200') notAccepted += count
    }
  }
  const times = parts.map(({ acceptedFromDue }) => acceptedFromDue)
  return {
    p50Ms: median(times.map(({ p50Ms }) => p50Ms)),
    p99Ms: median(times.map(({ p99Ms }) => p99Ms)),
    maxMs: Math.max(...times.map(({ maxMs }) => maxMs)),
    statuses,
    notAccepted,
  }
}
