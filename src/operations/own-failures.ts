import { type Loop, MINUTE } from '../lib/index.ts'

/** Something about Tagwarden itself that does not work. */
export interface OwnFailure {
  /** `store`, `clock`, `deliveries`, or `loop:NAME`. */
  part: string
  message: string
}

/** The state of this node at one time. */
export interface NodeHealth {
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
/** How long a failure lasts before it notifies, ms: a restart of the database is not worth a message. */
export const LASTS_MS = MINUTE

export function ownFailuresIn(
  { loops, writeTrouble, clockDoubt, failingChannels }: NodeHealth,
  now: number,
): OwnFailure[] {
  const late = loops.flatMap((loop) => lateness(loop.name, loop.intervalMs, loop.lagMs(now)))
  const store = writeTrouble === null ? [] : [{ part: 'store', message: `The store takes no writes: ${writeTrouble}` }]
  const clock = clockDoubt === null ? [] : [{ part: 'clock', message: clockDoubt }]
  return [...store, ...clock, ...late, ...deliveryFailure(failingChannels ?? [])]
}

function lateness(name: string, intervalMs: number, lagMs: number): OwnFailure[] {
  if (lagMs <= Math.max(LATE_MS, LATE_INTERVALS * intervalMs)) return []
  const minutes = Math.round(lagMs / MINUTE)
  return [{ part: `loop:${name}`, message: `The loop “${name}” has not done its work for ${minutes} minutes` }]
}

function deliveryFailure(channels: readonly string[]): OwnFailure[] {
  if (channels.length === 0) return []
  const [first = '', ...others] = channels
  const more = others.length === 0 ? '' : ` (and ${others.length} more)`
  return [{ part: 'deliveries', message: `Messages do not get through for 15 minutes: ${first}${more}` }]
}

/** A failure that this node knows of, and whether people do. */
export interface KnownFailure extends OwnFailure {
  since: number
  isNotified: boolean
}

/** The failures known now, from those known before and those found; and the messages that are due. */
export interface Review {
  known: KnownFailure[]
  /** Not notified yet, and worth it. */
  begun: KnownFailure[]
  /** Notified, and over. */
  ended: KnownFailure[]
}

export function review(before: readonly KnownFailure[], found: readonly OwnFailure[], now: number): Review {
  const known = found.map((failure): KnownFailure => {
    const earlier = before.find(({ part }) => part === failure.part)
    return { ...failure, since: earlier?.since ?? now, isNotified: earlier?.isNotified ?? false }
  })
  return {
    known,
    begun: known.filter(({ since, isNotified }) => !isNotified && now - since >= LASTS_MS),
    ended: before.filter(({ part, isNotified }) => isNotified && !found.some((failure) => failure.part === part)),
  }
}
