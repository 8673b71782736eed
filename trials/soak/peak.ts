import { setTimeout as sleep } from 'node:timers/promises'
import type { Generator } from './load/generator.ts'

export const PEAK_CONNECTIONS = 64
/** As long as a peak is measured that figures are shown of, s. */
export const PEAK_SECONDS = 8

/** Requests a second that are answered, after a warm-up of half the time, when each connection sends as soon as it is answered. */
export async function measurePeak(generator: Generator, seconds: number): Promise<number> {
  await generator.pace({ perSecond: null, connections: PEAK_CONNECTIONS })
  await sleep(seconds * 500)
  await generator.take()
  await sleep(seconds * 1_000)
  const taken = await generator.take()
  return taken.accepted.count / taken.seconds
}
