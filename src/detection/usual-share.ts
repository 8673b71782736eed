import { DAY, HOUR } from '../lib/index.ts'
import { clamp, logRatios, median, sum, varianceBound } from './statistics.ts'
import type { TimeRange } from './time.ts'

/** How often a field was present, out of `total` events that could have it. */
export interface FieldCount {
  readonly present: number
  readonly total: number
}

export type FieldCounts<F extends string> = Readonly<Record<F, FieldCount>>

export interface PresenceBucket<F extends string> extends TimeRange {
  readonly fields: FieldCounts<F>
}

/** One field of a bucket, separate from the others because each is read many times. */
export interface RangeCount extends TimeRange, FieldCount {}

/** Number of events in a bucket. Fields have different totals, and the largest is that of all events. */
export const eventsIn = <F extends string>({ fields }: PresenceBucket<F>): number =>
  Math.max(0, ...Object.values<FieldCount>(fields).map(({ total }) => total))

export const countsOfField = <F extends string>(field: F, buckets: readonly PresenceBucket<F>[]): RangeCount[] =>
  buckets.map(({ from, to, fields }) => ({ from, to, present: fields[field].present, total: fields[field].total }))

/** What is usual for a share. */
export interface UsualShare extends FieldCount {
  readonly rate: number
  /** The rate at an instant, by the hour of the day: evening visitors differ from morning visitors. */
  rateAt(time: number): number
  /** The usual number of events in the hour of an instant. */
  eventsAt(time: number): number
  /** How many events say as much as a single one, see `clumping`. */
  readonly together: number
  /** The lowest level of any day relative to what is usual at its hours, at most 1. */
  readonly leastLevel: number
  /** How much the level varies over hours and days, as a variance of the share. */
  readonly wavering: number
}

/** The share that is a fault: this many times the usual one, and no less than `least`. Below the usual share it is a loss, above it a surplus. */
export interface FaultyShare {
  readonly times: number
  readonly least?: number
}

const HOURS_A_DAY = 24
/** Events needed for a share; quiet hours are combined until they have as many. */
const BLOCK_EVENTS = 30
/** Natural logarithm of the odds from which on past hours count as a fault. */
const SURELY_ODD = 8
/** If more of the week than this looks like a fault, it is how the site is. */
const MOST_LEFT_OUT = 0.25
/** Median of a squared standard normal number. */
const MEDIAN_SQUARE = 0.455
/** No rate is assumed to be closer to never or always. */
export const LEAST_RATE = 0.005
/** A smaller variance means that the field is always present, or never. */
const ALWAYS = 1e-6
/** Prior variance between hours of the day, in log odds, … */
const HOURLY = 0.2
/**
 * … and prior variation of the level, the number of six-hour stretches that it weighs as much as, and the factor by which a week may understate it.
 * As a variance of the share itself: if nine tenths grant, a day on which one in twenty more grants has half of the refusals.
 */
export const WAVERING = { prior: 0.02, weight: 10, hours: 6, doubt: 2 } as const

/**
 * Learns a field's usual share from past hours, without those that were as broken as the fault to look for: a past fault
 * would lower the measure for the next one, and make all differences between hours look like chance.
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
 * Leaves out hours whose shares are likelier with the fault than without: stretches over which the likelihood ratio, against
 * the median of all, rises by enough (CUSUM, Page 1954).
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

/** Combines counts until each block has enough events; an incomplete block at the end is dropped. */
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
 * Returns how many events say as much as a single one: a signed-in visitor is so on all pages, and different visitors come at
 * night. It is the variance of the hours' rates as a multiple of what chance causes, at least 1 (a design effect, Kish 1965):
 * with all hours weighted equally, or by their events if that is more, because visitors who do much come in busy hours. Few
 * hours hardly show it; then the upper bound is returned, so that a site's first hours set no norm for the next.
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
  // A field that is always present has no variance to measure, and needs none.
  if (chances < ALWAYS * counted) return 1
  const freedom = counted - 1
  // A single hour may be one clump.
  if (freedom < 1) return events
  const effect = Math.max(squares / chances, squaresByEvents / chancesByEvents) * (counted / freedom)
  return Math.max(1, effect) * varianceBound(freedom)
}

/**
 * The same from the differences of neighbouring hours, which the hour of the day hardly affects (von Neumann 1941).
 *
 * @param rate of all hours
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

/** The rate by the hour of the day, shrunk towards that of all hours, the more, the fewer its own events are (empirical Bayes). */
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

/** Mean events by the hour of the day; for unknown hours the mean of all. */
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

/** How much six-hour stretches differ from their expectation, beyond what chance and clumps cause (method of moments, shrunk). */
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

/** Over stretches of a day, or as much longer as it takes until clumps do not matter. */
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

/** Distance between two shares, in nats per event (Kullback and Leibler 1951). */
export function divergence(share: number, usual: number): number {
  const rate = clamp(usual, LEAST_RATE, 1 - LEAST_RATE)
  const part = (of: number, to: number) => (of <= 0 ? 0 : of * Math.log(of / to))
  return part(share, rate) + part(1 - share, 1 - rate)
}
