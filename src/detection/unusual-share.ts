import { HOUR } from '../lib/index.ts'
import { changedAt } from './change-point.ts'
import { logLimit } from './false-alarms.ts'
import { clamp, logRatios } from './statistics.ts'
import {
  countsOfField,
  divergence,
  LEAST_RATE,
  type PresenceBucket,
  type RangeCount,
  type UsualShare,
} from './usual-share.ts'

/** A field in a stretch that ends now. */
export interface Stretch {
  /** Index of its first bucket. */
  readonly first: number
  readonly present: number
  readonly total: number
  /** The usual share at its hours. */
  readonly usual: number
  /** Natural logarithms of the chance of such a share, and of the largest chance that is unusual. */
  readonly chance: number
  readonly limit: number
}

export interface ShareTest {
  readonly usual: Pick<UsualShare, 'rateAt' | 'together' | 'wavering'>
  /** Whether a share differs enough from the usual one to matter. */
  readonly isBad: (share: number, usual: number) => boolean
  /**
   * For counts that do not say which events they belong to: the usual number of events in an hour. Any surplus, e.g. from
   * bots, may consist of events that never have the field. Undefined when all events could have it.
   */
  readonly eventsAt?: (time: number) => number
  /** False alarms in 30 days for this field. */
  readonly budget: number
}

/** False alarms in 30 days for all fields of a probe together. */
export const BUDGET = 0.05
/** Fewer events prove nothing. */
const LEAST_EVENTS = 30

/**
 * Returns the stretch up to now whose share of events with or without the field is least explained by chance; if none is bad, the newest
 * with enough events. Null with fewer. A deviation that the newest events contradict is over; then only what came since is judged.
 *
 * @param recent oldest first
 * @returns also when the deviation began, epoch ms; null when there is none
 */
export function unusualStretch<F extends string>(
  field: F,
  recent: readonly PresenceBucket<F>[],
  now: number,
  test: ShareTest,
): { stretch: Stretch; since: number | null } | null {
  const counts = countsOfField(field, recent)
  const stretches = stretchesOf(counts, now, test)
  const [newest] = stretches
  if (newest === undefined) return null
  for (let from = 0; ; ) {
    const surest = surestOf(stretches, from)
    if (surest === null) return { stretch: newest, since: null }
    const over = overSince(counts, surest, test.usual)
    if (over === null) return { stretch: surest, since: beganAt(counts, surest, test.usual) }
    from = over
  }
}

/** All bad stretches with enough events, each from a bucket to now, shortest first; before them the shortest of all. */
function stretchesOf(recent: readonly RangeCount[], now: number, test: ShareTest): Stretch[] {
  const { usual, isBad, eventsAt = () => Number.POSITIVE_INFINITY, budget } = test
  const stretches: Stretch[] = []
  let [present, total, expected, most] = [0, 0, 0, 0]
  let until = now
  for (let first = recent.length - 1; first >= 0; first--) {
    const bucket = recent[first]
    if (bucket === undefined) break
    present += bucket.present
    total += bucket.total
    expected += bucket.total * usual.rateAt(bucket.from)
    most += (eventsAt(bucket.from) * (until - bucket.from)) / HOUR
    until = bucket.from
    if (total < LEAST_EVENTS) continue
    const counted = Math.min(total, Math.max(present, most))
    const [share, rate] = [present / counted, expected / total]
    const alone = isBad(share, rate) ? apart(counted, rate, usual) : 0
    if (alone === 0 || !isBad(nearer(share, rate, alone), rate)) {
      if (stretches.length === 0) stretches.push({ first, present, total, usual: rate, chance: 0, limit: 0 })
      continue
    }
    const chance = -alone * divergence(share, rate)
    stretches.push({ first, present, total, usual: rate, chance, limit: logLimit(budget, now - bucket.from) })
  }
  return stretches
}

/**
 * Returns how many single events say as much as these, which come in clumps and at a varying level. The chance of such a
 * share, or one farther off, is at most that of a binomial number of as many events (Chernoff 1952).
 */
function apart(total: number, rate: number, { together, wavering }: ShareTest['usual']): number {
  const chance = Math.max(LEAST_RATE * (1 - LEAST_RATE), rate * (1 - rate))
  return total / (together + (total * wavering) / chance)
}

/** The share moved by one standard error towards the usual one: if it only just matters, it may as well not. */
function nearer(share: number, rate: number, alone: number): number {
  const believed = (share * alone + 0.5) / (alone + 1)
  const error = Math.sqrt((believed * (1 - believed)) / alone)
  return share < rate ? share + error : share - error
}

/** @param from index of the first bucket that a stretch may begin with */
function surestOf(stretches: readonly Stretch[], from: number): Stretch | null {
  let surest: Stretch | null = null
  for (const stretch of stretches) {
    if (stretch.first < from || stretch.chance >= stretch.limit) continue
    if (surest === null || stretch.chance - stretch.limit < surest.chance - surest.limit) surest = stretch
  }
  return surest
}

const beganAt = (
  recent: readonly RangeCount[],
  { present, total }: Stretch,
  { rateAt, together }: ShareTest['usual'],
): number =>
  changedAt(
    recent.map((bucket) => ({ from: bucket.from, count: bucket.present, of: bucket.total })),
    { count: present, of: total },
    (time) => clamp(rateAt(time), LEAST_RATE, 1 - LEAST_RATE),
    together,
  )

/** Certainty that a rate is back: wrong once in four times (Ville 1939), as for doublings. */
const RECOVERED = Math.log(4)
/**
 * Returns the bucket from which on events support the usual rate most strongly against that of the stretch, once with certainty and still on balance
 * (likelihood ratio, in clumps); null when they do not. Otherwise the rarest events would alarm for a day after a fault, until none of it is left;
 * only later events can make it begin again.
 */
function overSince(
  recent: readonly RangeCount[],
  { first, present, total, usual }: Stretch,
  { together }: ShareTest['usual'],
): number | null {
  const [now, before] = [clamp(present / total, LEAST_RATE, 1 - LEAST_RATE), clamp(usual, LEAST_RATE, 1 - LEAST_RATE)]
  const [there, missing] = logRatios(before, now)
  let [support, least] = [0, 0]
  let most = { support: 0, from: -1 }
  for (let index = recent.length - 1; index > first; index--) {
    const count = recent[index]
    if (count === undefined) break
    support += count.present * there + (count.total - count.present) * missing
    least = Math.min(least, support)
    if (support > most.support && support - least > RECOVERED * together) most = { support, from: index }
  }
  return most.from < 0 ? null : most.from
}
