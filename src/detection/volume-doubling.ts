import { DAY, HOUR } from '../lib/index.ts'
import type { Bursts } from './bursts-now.ts'
import { UNKNOWN_NOISE } from './count-noise.ts'
import { logLimit } from './false-alarms.ts'
import { type CountModel, logUpperTail } from './negative-binomial.ts'
import { comesSingly, type Multiples, repeatOf, type Times, together } from './repeats.ts'
import type { UsualCounts } from './usual-counts.ts'
import { countsOf, expectedBetween, type RecentCounts } from './volume-counts.ts'

/** An event that comes a whole multiple more often than the rest of its site explains, as when its tag fires twice. */
export interface Doubling {
  readonly measured: number
  /**
   * Distribution of such counts while nothing is wrong: the largest of the expectations by the clock, by the other events, and by the event's usual
   * share of them.
   */
  readonly model: CountModel
  /** Natural logarithms: of the chance of so many, or of so many at a time, and of the largest chance that is unusual. */
  readonly chance: number
  readonly limit: number
  /** The other events of the window relative to usual. */
  readonly others: number
  /** Start of the bucket in which it began, epoch ms. */
  readonly since: number
  /** Length of the window, ms. */
  readonly covered: number
  /** How the event came by the minute, if that shows the doubling. */
  readonly repeats: (Multiples & { readonly times: Times }) | null
}

/** Twice or three times as many lie within these factors. More is a flood, which may come from bots as well as from loops. */
export const DOUBLED = { least: 1.6, most: 4.5 } as const
/** Lengths of the windows, ms. Shorter increases are peaks: a mail, a push message, a page that many people reload. */
const WINDOWS = [1, 2, 4, 8, 16, 23].map((hours) => hours * HOUR)
/** An event with this share of all others may come from a bot for some hours: page views without what visitors do on pages. */
const LARGE = 0.3
const LEAST_OF_LARGE = 8 * HOUR
/** With fewer events, or fewer usual ones, nothing is proven. */
const LEAST_EVENTS = { counts: 40, repeats: 24 } as const
const LEAST_USUAL = { counts: 15, repeats: 6 } as const
/**
 * The rest of the site must be usual within these factors: in a campaign or a sale, more visitors come and buy differently,
 * and when other events are missing, a share says nothing about this one.
 */
const OTHERS = { least: 0.6, most: 1.4 } as const
/** On a quiet day, an event may fall less than the others do. */
const LOWEST_LEVEL = 0.8
const PARTS = 4
/** Each part of the window must support a doubling, within this many standard deviations. */
const PART_RATIO = 1.5
const PART_Z = 2
/** A younger event is still changing, days. */
const LEAST_KNOWN = { counts: 14, repeats: 7 } as const
/** Counts that are more likely than one in twenty are not examined by the minute. */
const WORTH_A_LOOK = Math.log(0.05)
/** Halfway between once and twice, to find where it began. */
const NEUTRAL = 1.5

interface Stretch {
  readonly from: number
  readonly measured: number
  readonly byClock: number
  readonly others: number
  readonly usualOthers: number
  readonly covered: number
}

/** A window in which an event came a whole multiple more often than the rest of its site explains. */
interface Candidate {
  readonly index: number
  readonly model: CountModel
  readonly chance: number
  readonly limit: number
  readonly others: number
  /** The expectation of the model over that of the clock. */
  readonly factor: number
  /** Whether counts alone may prove it: the event is well known, and the rest of the site is usual. */
  readonly isPlain: boolean
}

/** An event that may have doubled. */
interface Subject {
  readonly name: string
  readonly recent: RecentCounts
  readonly usual: UsualCounts
  /** See `siteExpectations`. */
  readonly ofSite: Float64Array
  readonly bursts: Bursts
  /** False alarms a month for this event. */
  readonly budget: number
}

/** Whether reading the event by the minute may be worthwhile, see `repeatOf`. */
export function mayHaveDoubled(subject: Subject): boolean {
  for (const { chance } of candidatesOf(subject, stretchesOf(subject))) if (chance < WORTH_A_LOOK) return true
  return false
}

/**
 * Looks for an event that comes twice as often as its visits explain, in ever longer windows that end now. Null when there is no doubling.
 *
 * Counts alone prove it if chance does not explain them and each part of the window is high. So does an event that comes two or three at a time and
 * did not the day before: more visitors do not bring pairs.
 *
 * @param minutes how the event came by the minute, newest hour first, if that was read
 */
export function doublingOf(subject: Subject, minutes: readonly Multiples[] = []): Doubling | null {
  const stretches = stretchesOf(subject)
  const { burst } = subject.bursts
  for (const candidate of candidatesOf(subject, stretches)) {
    const { index, model, limit, factor, others } = candidate
    const window = stretches[index] ?? EMPTY
    const isClear = candidate.isPlain && candidate.chance < limit && isHighThroughout(stretches, index, burst, factor)
    const hours = Math.floor(window.covered / HOUR)
    const repeat = candidate.chance < WORTH_A_LOOK ? repeatOf(minutes, hours) : null
    const isRepeated = repeat !== null && repeat.chance < limit
    const isOrdinary = isRepeated
      ? comesSingly(minutes, hours, repeat.times)
      : !isClear || isOver(stretches, index, burst, factor)
    if (isOrdinary) continue
    const repeats = isRepeated ? { times: repeat.times, ...together(minutes.slice(0, hours)) } : null
    const chance = isRepeated ? repeat.chance : candidate.chance
    const since = began(stretches, factor)
    return { measured: window.measured, model, chance, limit, others, since, covered: window.covered, repeats }
  }
  return null
}

/** Shortest window first. */
function* candidatesOf(subject: Subject, stretches: readonly Stretch[]): Generator<Candidate> {
  const { name, recent, usual, bursts, budget } = subject
  const own = usual.of(name)
  const to = recent.buckets.at(-1)?.to ?? 0
  const known = Math.min(usual.days, (to - (own.seen?.from ?? to)) / DAY)
  const whole = stretches.at(-1)
  if (known < LEAST_KNOWN.repeats || own.noise === UNKNOWN_NOISE || whole === undefined) return
  // An event's share of the site over four weeks is known far better than its hours: those of an event with a few dozen a day were off by a quarter.
  const shareOfOthers = own.hourly / Math.max(usual.of(null).hourly - own.hourly, own.hourly)
  const isLarge = whole.byClock > LARGE * whole.usualOthers
  for (const length of WINDOWS) {
    const index = stretches.findIndex(({ covered }) => covered >= length)
    const window = stretches[index]
    if (window === undefined) return
    const { measured, byClock, others, usualOthers } = window
    if (measured < LEAST_EVENTS.repeats || byClock < LEAST_USUAL.repeats) continue
    const level = others / usualOthers
    const mean = Math.max(byClock * Math.max(LOWEST_LEVEL, level), shareOfOthers * others)
    if (!(measured >= DOUBLED.least * mean && measured <= DOUBLED.most * mean)) continue
    const noise = own.noise.level(length) + usual.of(null).noise.burst / usualOthers
    const model = { mean, burst: bursts.burst, noise }
    const isPlain =
      known >= LEAST_KNOWN.counts &&
      window.from >= usual.specialUntil(to) &&
      !(isLarge && length < LEAST_OF_LARGE) &&
      measured >= LEAST_EVENTS.counts &&
      byClock >= LEAST_USUAL.counts &&
      level >= OTHERS.least &&
      level <= OTHERS.most
    const chance = logUpperTail(measured, model)
    yield { index, model, chance, limit: logLimit(budget, length), others: level, factor: mean / byClock, isPlain }
  }
}

/** Sums from now back to each bucket. */
function stretchesOf({ name, recent, usual, ofSite }: Subject): Stretch[] {
  const { buckets, total } = recent
  const counts = countsOf(recent, name)
  const own = usual.of(name)
  const stretches: Stretch[] = []
  let [measured, byClock, others, usualOthers, covered] = [0, 0, 0, 0, 0]
  for (let index = buckets.length - 1; index >= 0; index--) {
    const bucket = buckets[index]
    if (bucket === undefined) break
    const [ofOwn, ofAll] = [expectedBetween(own, bucket), ofSite[index] ?? Number.NaN]
    // Older buckets have nothing to be compared with.
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

/** A doubling lasts and follows the daily rhythm; a burst ends, or continues through the night as at noon. */
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

/** Certainty that a count is back: wrong once in four times (Ville 1939). */
const RECOVERED = Math.log(4)

/**
 * Whether a newest part of the window supports the usual count against that of the window, once with certainty and still on
 * balance (likelihood ratio of Poisson numbers, in bursts). So only later events can make a doubling begin again.
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

/** The beginning is where the excess adds up to most (CUSUM, Page 1954). */
function began(stretches: readonly Stretch[], level: number): number {
  const excess = ({ measured, byClock }: Stretch) => measured - NEUTRAL * level * byClock
  return stretches.reduce((most, one) => (excess(one) > excess(most) ? one : most), stretches[0] ?? EMPTY).from
}
