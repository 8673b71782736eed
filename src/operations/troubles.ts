import { type Loop, MINUTE } from '../lib/index.ts'

/** Something about Tagwarden itself that does not work. */
export interface Trouble {
  /** `store`, `clock`, `deliveries`, or `loop:NAME`. */
  part: string
  message: string
}

/** What one look at this node finds. */
export interface Look {
  loops: readonly Pick<Loop, 'name' | 'intervalMs' | 'lagMs'>[]
  /** Why the store takes no writes, or null. */
  writeTrouble: string | null
  /** Why nothing is deleted by age, or null. */
  clockDoubt: string | null
  /** Channels that have failed for long, in words; null: other nodes see to that. */
  failingChannels: readonly string[] | null
}

/** A loop may be late by this much, or five of its intervals, whichever is more: compaction after a start takes its time, ms. */
const LATE_MS = 2 * MINUTE
const LATE_INTERVALS = 5
/** For as long something has to be wrong before people are told: a restart of the database is not worth a message, ms. */
export const LASTS_MS = MINUTE

export function troublesIn({ loops, writeTrouble, clockDoubt, failingChannels }: Look, now: number): Trouble[] {
  const late = loops.flatMap((loop) => lateness(loop.name, loop.intervalMs, loop.lagMs(now)))
  const store = writeTrouble === null ? [] : [{ part: 'store', message: `The store takes no writes: ${writeTrouble}` }]
  const clock = clockDoubt === null ? [] : [{ part: 'clock', message: clockDoubt }]
  return [...store, ...clock, ...late, ...deliveryTrouble(failingChannels ?? [])]
}

function lateness(name: string, intervalMs: number, lagMs: number): Trouble[] {
  if (lagMs <= Math.max(LATE_MS, LATE_INTERVALS * intervalMs)) return []
  const minutes = Math.round(lagMs / MINUTE)
  return [{ part: `loop:${name}`, message: `The loop “${name}” has not done its work for ${minutes} minutes` }]
}

function deliveryTrouble(channels: readonly string[]): Trouble[] {
  if (channels.length === 0) return []
  const [first = '', ...others] = channels
  const more = others.length === 0 ? '' : ` (and ${others.length} more)`
  return [{ part: 'deliveries', message: `Messages do not get through for 15 minutes: ${first}${more}` }]
}

/** A trouble that is known, and what people know of it. */
export interface Known extends Trouble {
  since: number
  isTold: boolean
}

/** What is known now of what was known before and what was found; and who is told what. */
export interface Review {
  known: Known[]
  /** Not told of yet, and worth it. */
  begun: Known[]
  /** Told of, and over. */
  ended: Known[]
}

export function review(before: readonly Known[], found: readonly Trouble[], now: number): Review {
  const known = found.map((trouble): Known => {
    const earlier = before.find(({ part }) => part === trouble.part)
    return { ...trouble, since: earlier?.since ?? now, isTold: earlier?.isTold ?? false }
  })
  return {
    known,
    begun: known.filter(({ since, isTold }) => !isTold && now - since >= LASTS_MS),
    ended: before.filter(({ part, isTold }) => isTold && !found.some((trouble) => trouble.part === part)),
  }
}
