import { DAY, HOUR } from '../lib/index.ts'
import { clamp, logRatios, median, sum, varianceBound } from './statistics.ts'
import type { TimeRange } from './time.ts'

/** How often a field was there, out of `total` events that could have had it. */
export interface FieldCount {
  readonly present: number
  readonly total: number
}

export type FieldCounts<F extends string> = Readonly<Record<F, FieldCount>>

export interface PresenceBucket<F extends string> extends TimeRange {
  readonly fields: FieldCounts<F>
}

/** One field of a bucket. Apart from the others, as each is looked at many times. */
export interface RangeCount extends TimeRange, FieldCount {}

/** Events in a bucket: the fields' bases differ, the largest is that of all. */
export const eventsIn = <F extends string>({ fields }: PresenceBucket<F>): number =>
  Math.max(0, ...Object.values<FieldCount>(fields).map(({ total }) => total))

export const countsOfField = <F extends string>(field: F, buckets: readonly PresenceBucket<F>[]): RangeCount[] =>
  buckets.map(({ from, to, fields }) => ({ from, to, present: fields[field].present, total: fields[field].total }))

/** What is usual of a share. */
export interface UsualShare extends FieldCount {
  readonly rate: number
  /** What the rate is at an instant, by the hour of the day: visitors of the evening are others than those of the morning. */
  rateAt(time: number): number
  /** How many events an hour like that of an instant has. */
  eventsAt(time: number): number
  /** How many events say as much as one that came alone, see `clumping`. */
  readonly together: number
  /** Least that a day had of what is usual of its hours, 1 at most. */
  readonly leastLevel: number
  /** By how much the level wavers over hours and days, as a variance of the share. */
  readonly wavering: number
}

/** The share that is a fault where another one is usual: so many times that one, and no less than `least`. Below the usual one it is a loss, else too many. */
export interface FaultyShare {
  readonly times: number
  readonly least?: number
}

const HOURS_A_DAY = 24
/** Events that make a share: quiet hours are taken together until they have as many. */
const BLOCK_EVENTS = 30
/** Natural logarithm of the odds by which hours of the past were a fault, rather than usual. */
const SURELY_ODD = 8
/** What more of the week than this was like is not its fault, but how the site is. */
const MOST_LEFT_OUT = 0.25
/** Median of a squared standard normal number. */
const MEDIAN_SQUARE = 0.455
/** No rate is believed to be nearer to never or always. */
export const LEAST_RATE = 0.005
/** A variance so small is that of a field that is always there, or never. */
const ALWAYS = 1e-6
/** Believed of how far hours of the day differ, as a variance of the logarithm of the odds, … */
const HOURLY = 0.2
/** … and of how much the level wavers, as how many stretches of six hours that counts, and by how much a week may make too little of it. Measured
 * as a variance of the share itself: where nine tenths grant, a day on which one in twenty more does has half of the refusals. */
export const WAVERING = { prior: 0.02, weight: 10, hours: 6, doubt: 2 } as const

/**
 * What the hours of the past say of a field, without those in which it was as broken as what is looked for: a fault that is over would lower the measure for the next,
 * and make hours look as different as if all were chance.
 */
export function usualShare<F extends string>(
  field: F,
  hours: readonly PresenceBucket<F>[],
  faulty: FaultyShare,
): UsualShare {
  const kept = withoutFaults(countsOfField(field, hours), faulty)
  const present = sum(kept.map((hour) => hour.present))
  const total = sum(kept.map((hour) => hour.total))
  const rate = total === 0 ? 0 : present / total
  const rates = ratesByHour(kept, rate)
  const rateAt = (time: number) => rates[hourOfDay(time)] ?? rate
  const together = clumping(kept, rateAt)
  const wavering = waveringOf(kept, rateAt, { rate, together })
  const leastLevel = leastLevelOf(kept, rateAt, together)
  return { present, total, rate, rateAt, eventsAt: meanByHour(kept), together, wavering, leastLevel }
}

const hourOfDay = (time: number): number => Math.floor(time / HOUR) % HOURS_A_DAY

/**
 * The hours without those whose shares are more likely with a fault than without one: stretches over which the likelihood ratio, against the median of all, rises by
 * enough (CUSUM, Page 1954).
 */
function withoutFaults(hours: readonly RangeCount[], { times, least = 0 }: FaultyShare): readonly RangeCount[] {
  const blocks = blocksOf(hours, BLOCK_EVENTS)
  if (blocks.length === 0) return hours
  const usual = clamp(median(blocks.map(({ present, total }) => present / total)), LEAST_RATE, 1 - LEAST_RATE)
  const fault = clamp(Math.max(least, times * usual), LEAST_RATE / 2, 1 - LEAST_RATE / 2)
  const squares = blocks.map(({ present, total }) => (present - usual * total) ** 2 / (total * usual * (1 - usual)))
  const enough = SURELY_ODD * Math.max(1, median(squares) / MEDIAN_SQUARE)
  const [there, missing] = logRatios(fault, usual)
  const faulty = new Uint8Array(hours.length)
  let support = 0
  let from = 0
  let peak = { support: 0, at: 0 }
  const end = () => {
    if (peak.support >= enough) faulty.fill(1, from, peak.at + 1)
    support = 0
    peak = { support: 0, at: 0 }
  }
  for (const [hour, { present, total }] of hours.entries()) {
    if (support === 0) from = hour
    support += present * there + (total - present) * missing
    if (support > peak.support) peak = { support, at: hour }
    if (support <= 0 || peak.support - support >= enough) end()
  }
  end()
  return sum(faulty) > MOST_LEFT_OUT * hours.length ? hours : hours.filter((_, hour) => faulty[hour] === 0)
}

/** Counts with too few events together with those after them; what is left at the end with too few is left out. */
export function blocksOf(counts: readonly FieldCount[], events: number): FieldCount[] {
  const blocks: FieldCount[] = []
  let [present, total] = [0, 0]
  for (const count of counts) {
    present += count.present
    total += count.total
    if (total < events) continue
    blocks.push({ present, total })
    ;[present, total] = [0, 0]
  }
  return blocks
}

/**
 * How many events say as much as one that came alone: a visitor who is signed in is so on all pages, and at night others come
 * than by day. The variance of the hours' rates as a multiple of what chance gives them, at least 1 (a design effect, Kish 1965): of all hours alike, or by their
 * events where that is more, as visitors who do much come in busy hours. Few hours hardly tell it: then it is the most that it may be, so that a site's first hours make
 * no norm for the next.
 */
export function clumping(hours: readonly RangeCount[], rateAt: (time: number) => number): number {
  let [squares, chances, counted, events] = [0, 0, 0, 0]
  let [squaresByEvents, chancesByEvents] = [0, 0]
  for (const { from, present, total } of hours) {
    if (total === 0) continue
    const rate = rateAt(from)
    squares += (present - rate * total) ** 2 / total
    squaresByEvents += (present - rate * total) ** 2
    chances += rate * (1 - rate)
    chancesByEvents += rate * (1 - rate) * total
    events += total
    counted++
  }
  // A field that is always there has no variance to measure, and needs none.
  if (chances < ALWAYS * counted) return 1
  const freedom = counted - 1
  // One hour may be one clump.
  if (freedom < 1) return events
  const effect = Math.max(squares / chances, squaresByEvents / chancesByEvents) * (counted / freedom)
  return Math.max(1, effect) * varianceBound(freedom)
}

/**
 * The same from the differences of neighbouring hours, which the hour of the day hardly changes (von Neumann 1941). @param rate of all hours
 */
function clumpingOfNeighbours(hours: readonly RangeCount[], rate: number): number {
  const chance = rate * (1 - rate)
  let [ratios, pairs] = [0, 0]
  let before: FieldCount | null = null
  for (const count of hours) {
    if (count.total === 0) continue
    if (before !== null) {
      const difference = count.present / count.total - before.present / before.total
      ratios += difference ** 2 / (chance * (1 / count.total + 1 / before.total))
      pairs++
    }
    before = count
  }
  return chance < ALWAYS || pairs === 0 ? 1 : Math.max(1, ratios / pairs)
}

/** The rate by the hour of the day, drawn towards that of all hours as far as their own events are too few to tell (empirical Bayes). */
function ratesByHour(hours: readonly RangeCount[], rate: number): Float64Array {
  const weight = clumpingOfNeighbours(hours, rate) / Math.max(ALWAYS, HOURLY * rate * (1 - rate))
  const present = new Float64Array(HOURS_A_DAY).fill(rate * weight)
  const total = new Float64Array(HOURS_A_DAY).fill(weight)
  for (const count of hours) {
    const hour = hourOfDay(count.from)
    present[hour] = (present[hour] ?? 0) + count.present
    total[hour] = (total[hour] ?? 0) + count.total
  }
  return present.map((count, hour) => count / (total[hour] ?? 1))
}

/** Events of an hour, by the hour of the day; where none of it is known, of all hours. */
function meanByHour(hours: readonly RangeCount[]): (time: number) => number {
  const events = new Float64Array(HOURS_A_DAY)
  const counted = new Float64Array(HOURS_A_DAY)
  for (const { from, total } of hours) {
    const hour = hourOfDay(from)
    events[hour] = (events[hour] ?? 0) + total
    counted[hour] = (counted[hour] ?? 0) + 1
  }
  const ofAll = hours.length === 0 ? 0 : sum(events) / hours.length
  return (time) => {
    const hour = hourOfDay(time)
    const known = counted[hour] ?? 0
    return known === 0 ? ofAll : (events[hour] ?? 0) / known
  }
}

/** What six hours differ by from what is expected of them, beyond what chance and clumps make (method of moments, shrunk). */
function waveringOf(
  hours: readonly RangeCount[],
  rateAt: (time: number) => number,
  { rate: ofAll, together }: Pick<UsualShare, 'rate' | 'together'>,
): number {
  let [excess, information, stretches] = [0, 0, 0]
  let [difference, chance, events, until] = [0, 0, 0, 0]
  const end = () => {
    if (events > 0) {
      excess += difference * difference - together * chance
      information += events * events
      stretches++
    }
    ;[difference, chance, events] = [0, 0, 0]
  }
  for (const { from, present, total } of hours) {
    if (from >= until) {
      end()
      until = from + WAVERING.hours * HOUR
    }
    const rate = rateAt(from)
    difference += present - rate * total
    chance += rate * (1 - rate) * total
    events += total
  }
  end()
  const measured = information > 0 ? Math.max(0, excess / information) : 0
  const prior = WAVERING.prior * (ofAll * (1 - ofAll)) ** 2
  return (stretches * WAVERING.doubt * measured + WAVERING.weight * prior) / (stretches + WAVERING.weight)
}

/** Of stretches of a day, or as much longer as it takes until clumps are no matter. */
function leastLevelOf(hours: readonly RangeCount[], rateAt: (time: number) => number, together: number): number {
  let least = 1
  let [present, total, expected, since] = [0, 0, 0, Number.NaN]
  for (const { from, to, ...count } of hours) {
    if (total === 0) since = from
    present += count.present
    total += count.total
    expected += count.total * rateAt(from)
    if (to - since < DAY || total < BLOCK_EVENTS * together) continue
    if (expected > 0) least = Math.min(least, present / expected)
    ;[present, total, expected] = [0, 0, 0]
  }
  return least
}

/** How far one share is from another, in nats an event (Kullback and Leibler 1951). */
export function divergence(share: number, usual: number): number {
  const rate = clamp(usual, LEAST_RATE, 1 - LEAST_RATE)
  const part = (of: number, to: number) => (of <= 0 ? 0 : of * Math.log(of / to))
  return part(share, rate) + part(1 - share, 1 - rate)
}
