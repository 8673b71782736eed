import type { TagProfile } from './profile.ts'
import type { Random } from './random.ts'
import { SLOTS } from './world.ts'

export interface Presence {
  present: Float64Array
  total: Float64Array
}

export interface TagHistory {
  tag: TagProfile
  /** On each event, for sites that send event by event. */
  onEvent: ReadonlyMap<string, Float64Array>
  executions: Float64Array
  bad: Float64Array
  timeouts: Float64Array
  /** `BUCKETS` numbers for every five minutes. */
  histogram: Float64Array
  /** For every five minutes. */
  totalMs: Float64Array
}

/** Moves counts into the slot in which their batch is full; what is over waits for the next. */
export function collect(size: number, total: Float64Array, series: readonly Float64Array[]): void {
  let waiting = 0
  let from = 0
  for (let slot = 0; slot < total.length; slot++) {
    waiting += total[slot] ?? 0
    total[slot] = Math.floor(waiting / size) * size
    if (waiting < size) continue
    waiting %= size
    for (const counts of series) {
      let sum = 0
      for (let at = from; at <= slot; at++) {
        sum += counts[at] ?? 0
        counts[at] = 0
      }
      counts[slot] = sum
    }
    from = slot + 1
  }
}

/** Like a binomial number, but `size` at a time, rounded; what is left over is a smaller one. */
export function clumped(random: Random, trials: number, rate: number, size: number): number {
  const one = Math.max(1, Math.round(size))
  // Of a visit cut short all counts, or nothing: a whole one in its place would make more than the rate of what comes in few minutes.
  const [whole, rest] = [Math.floor(trials / one), trials % one]
  return one * random.binomial(whole, rate) + rest * random.binomial(Math.min(1, rest), rate)
}

/** The presence of a field over several kinds of events. */
export function together(parts: readonly Presence[]): Presence {
  const [present, total] = [new Float64Array(SLOTS), new Float64Array(SLOTS)]
  for (const part of parts) {
    for (let slot = 0; slot < SLOTS; slot++) {
      present[slot] = (present[slot] ?? 0) + (part.present[slot] ?? 0)
      total[slot] = (total[slot] ?? 0) + (part.total[slot] ?? 0)
    }
  }
  return { present, total }
}
