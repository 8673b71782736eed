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

/** What was seen of a field in a stretch that ends now. */
export interface Stretch {
  /** Index of its first bucket. */
  readonly first: number
  readonly present: number
  readonly total: number
  /** The share that is usual of its hours. */
  readonly usual: number
  /** Natural logarithms of the chance of such a share, and of the greatest that is unusual. */
  readonly chance: number
  readonly limit: number
}

export interface ShareTest {
  readonly usual: Pick<UsualShare, 'rateAt' | 'together' | 'wavering'>
  /** Whether a share is so far from the usual one that it matters. */
  readonly isBad: (share: number, usual: number) => boolean
  /**
   * Of counts that do not say of which events they are: how many an hour usually has. What comes beyond, as of bots, may all be events that never have the field.
   * Left out where all could have it.
   */
  readonly eventsAt?: (time: number) => number
  /** False alarms in 30 days of this field. */
  readonly budget: number
}

/** False alarms in 30 days that the fields of a probe may bring, all together. */
export const BUDGET = 0.05
/** Fewer events prove nothing. */
const LEAST_EVENTS = 30

/**
 * The stretch up to now of which chance explains least that so many events are without the field, or with it; or, where nothing is bad, the newest with enough events.
 * Null with fewer. What the newest events speak against is over, and only what came since is looked at.
 *
 * @param recent oldest first
 * @returns with it, when what is bad began, epoch ms; null where nothing is
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

/** Those that are bad, from each bucket to now, where they have events enough, the shortest first; before them the shortest of all. */
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
 * How many events that came alone say as much as so many, in clumps and at a level that wavers. The chance of such a share or one that is farther off is at most that
 * of a binomial number of as many (Chernoff 1952).
 */
function apart(total: number, rate: number, { together, wavering }: ShareTest['usual']): number {
  const chance = Math.max(LEAST_RATE * (1 - LEAST_RATE), rate * (1 - rate))
  return total / (together + (total * wavering) / chance)
}

/** The share a standard error nearer to the usual one: what only just matters by what was seen may as well not. */
function nearer(share: number, rate: number, alone: number): number {
  const believed = (share * alone + 0.5) / (alone + 1)
  const error = Math.sqrt((believed * (1 - believed)) / alone)
  return share < rate ? share + error : share - error
}

/** @param from index of the bucket before which no stretch begins */
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

/** So sure that a rate came back that it is wrong once in four times (Ville 1939), as of doublings. */
const RECOVERED = Math.log(4)
/**
 * Where it ended: the bucket from which on events speak most for the usual rate against that of a stretch, once surely and still rather than not; null where they do not.
 * What is over is no alarm any more, though the rarest events need a day until none of it is left, and only what comes after it makes it begin again (likelihood ratio, in clumps).
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
