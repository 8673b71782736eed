import { DAY, HOUR } from '../lib/index.ts'
import type { Bursts } from './bursts-now.ts'
import { UNKNOWN_NOISE } from './count-noise.ts'
import { logLimit } from './false-alarms.ts'
import { type CountModel, logUpperTail } from './negative-binomial.ts'
import type { UsualCounts } from './usual-counts.ts'
import { countsOf, expectedBetween, type RecentCounts } from './volume-counts.ts'

/** An event that comes a whole time more often than the rest of its site explains, as one does whose tag fires twice. */
export interface Doubling {
  readonly measured: number
  /** How such counts are distributed while nothing is wrong: by the clock, or by the others where more of these come, or by what the event usually is of them. */
  readonly model: CountModel
  /** Natural logarithm of the chance of so many, and of the greatest that is unusual. */
  readonly chance: number
  readonly limit: number
  /** What came of all other events in the window next to what is usual. */
  readonly others: number
  /** Start of the bucket in which it began, epoch ms. */
  readonly since: number
  /** Length of the window, ms. */
  readonly covered: number
}

/** What comes twice or three times as often is within these; more is a flood, which bots make as well as loops. */
export const DOUBLED = { least: 1.6, most: 4.5 } as const
/** Lengths of the windows, ms. Shorter ones are peaks: a mail, a push message, a page that many reload. */
const WINDOWS = [1, 2, 4, 8, 16, 23].map((hours) => hours * HOUR)
/** An event that is so large next to all others is what a bot sends, for some hours: page views come without what visitors do on pages. */
const LARGE = 0.3
const LEAST_OF_LARGE = 8 * HOUR
/** Fewer events, or fewer that are usual, prove little. */
const LEAST_EVENTS = 40
const LEAST_USUAL = 15
/**
 * The rest of the site is as usual within these: in a campaign or a sale more visitors come and buy otherwise, and where others are missing, a share says nothing of
 * the event.
 */
const OTHERS = { least: 0.6, most: 1.4 } as const
/** On a quiet day an event may follow the others by less than their whole fall. */
const LOWEST_LEVEL = 0.8
const PARTS = 4
/** Each part of the window speaks for a doubling rather than against it, by so many standard deviations at least. */
const PART_RATIO = 1.5
const PART_Z = 2
/** An event that is younger is still becoming usual. */
const LEAST_KNOWN = 14
/** Half way from once to twice, for where it began. */
const NEUTRAL = 1.5

interface Stretch {
  readonly from: number
  readonly measured: number
  readonly byClock: number
  readonly others: number
  readonly usualOthers: number
  readonly covered: number
}

/**
 * Looks for twice as many of an event as of the visits: in ever longer windows, the newest time included, each part of which is high. Null where there are not.
 *
 * @param ofSite see `siteExpectations`
 * @param budget false alarms a month of this event
 */
export function doublingOf(
  name: string,
  recent: RecentCounts,
  usual: UsualCounts,
  ofSite: Float64Array,
  bursts: Bursts,
  budget: number,
): Doubling | null {
  const own = usual.of(name)
  const to = recent.buckets.at(-1)?.to ?? 0
  const isKnown = usual.days >= LEAST_KNOWN && own.noise !== UNKNOWN_NOISE
  if (!isKnown || (own.seen?.from ?? to) > to - LEAST_KNOWN * DAY) return null
  const stretches = stretchesOf(name, recent, usual, ofSite)
  const whole = stretches.at(-1)
  if (whole === undefined) return null
  // Four weeks of an event say what it is of the site far better than what its hours are: of a few dozen a day that was off by a quarter.
  const shareOfOthers = own.hourly / Math.max(usual.of(null).hourly - own.hourly, own.hourly)
  const isLarge = whole.byClock > LARGE * whole.usualOthers
  const specialUntil = usual.specialUntil(to)
  for (const length of WINDOWS) {
    const index = stretches.findIndex(({ covered }) => covered >= length)
    const window = stretches[index]
    if (window === undefined || window.from < specialUntil) return null
    const { measured, byClock, others, usualOthers, covered } = window
    if ((isLarge && length < LEAST_OF_LARGE) || measured < LEAST_EVENTS || byClock < LEAST_USUAL) continue
    const level = others / usualOthers
    if (!(level >= OTHERS.least && level <= OTHERS.most)) continue
    const mean = Math.max(byClock * Math.max(LOWEST_LEVEL, level), shareOfOthers * others)
    if (measured < DOUBLED.least * mean || measured > DOUBLED.most * mean) continue
    const burstOfOthers = usual.of(null).noise.burst
    const noise = own.noise.level(length) + burstOfOthers / usualOthers
    const model = { mean, burst: bursts.burst, noise }
    const chance = logUpperTail(measured, model)
    const limit = logLimit(budget, length)
    const factor = mean / byClock
    if (chance >= limit || !isHighThroughout(stretches, index, bursts.burst, factor)) continue
    if (isOver(stretches, index, bursts.burst, factor)) continue
    return { measured, model, chance, limit, others: level, since: began(stretches, factor), covered }
  }
  return null
}

/** Sums from now back to each bucket. */
function stretchesOf(name: string, recent: RecentCounts, usual: UsualCounts, ofSite: Float64Array): Stretch[] {
  const { buckets, total } = recent
  const counts = countsOf(recent, name)
  const own = usual.of(name)
  const stretches: Stretch[] = []
  let [measured, byClock, others, usualOthers, covered] = [0, 0, 0, 0, 0]
  for (let index = buckets.length - 1; index >= 0; index--) {
    const bucket = buckets[index]
    if (bucket === undefined) break
    const [ofOwn, ofAll] = [expectedBetween(own, bucket), ofSite[index] ?? Number.NaN]
    // What is older cannot be compared with anything.
    if (Number.isNaN(ofOwn) || Number.isNaN(ofAll)) break
    measured += counts[index] ?? 0
    byClock += ofOwn
    others += Math.max(0, (total[index] ?? 0) - (counts[index] ?? 0))
    usualOthers += Math.max(0, ofAll - ofOwn)
    covered += bucket.to - bucket.from
    stretches.push({ from: bucket.from, measured, byClock, others, usualOthers, covered })
  }
  return stretches
}

const EMPTY: Stretch = { from: 0, measured: 0, byClock: 0, others: 0, usualOthers: 0, covered: 0 }

/** A doubling lasts, and follows the day; a burst is over, or goes on through the night as if it were noon. */
function isHighThroughout(stretches: readonly Stretch[], last: number, burst: number, level: number): boolean {
  const whole = stretches[last]?.covered ?? 0
  let newer = EMPTY
  for (let part = 1; part <= PARTS; part++) {
    const end = stretches.find(({ covered }) => covered >= (whole * part) / PARTS) ?? EMPTY
    const [measured, usual] = [end.measured - newer.measured, level * (end.byClock - newer.byClock)]
    const chance = PART_Z * Math.sqrt(2 * burst * usual)
    if (measured < PART_RATIO * usual - chance || measured > DOUBLED.most * usual + chance) return false
    newer = end
  }
  return true
}

/** So sure that a count came back that it is wrong once in four times (Ville 1939). */
const RECOVERED = Math.log(4)

/**
 * Whether a newest part speaks for the usual count against that of the window, once surely and still rather than not: only what comes after
 * what is over makes it begin again (likelihood ratio of Poisson numbers, in bursts).
 */
function isOver(stretches: readonly Stretch[], last: number, burst: number, level: number): boolean {
  const whole = stretches[last] ?? EMPTY
  const ratio = whole.measured / (level * whole.byClock)
  let least = 0
  return stretches.slice(0, last).some(({ measured, byClock }) => {
    const support = level * byClock * (ratio - 1) - measured * Math.log(ratio)
    least = Math.min(least, support)
    return support > 0 && support - least > RECOVERED * burst
  })
}

/** It began where what is over adds up to most (CUSUM, Page 1954). */
function began(stretches: readonly Stretch[], level: number): number {
  const excess = ({ measured, byClock }: Stretch) => measured - NEUTRAL * level * byClock
  return stretches.reduce((most, one) => (excess(one) > excess(most) ? one : most), stretches[0] ?? EMPTY).from
}
