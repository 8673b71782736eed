/** Number of events that the prior knowledge weighs as much as, so that a few new ones hardly change it. */
const PRIOR_WEIGHT = 40
/** Share of the most different pairs that is left out, at least one pair: a fault makes one when it begins and one when it ends. */
const LEFT_OUT = 0.05
/** The share of a sum of squares that remains without its largest 5 %, for a normal distribution: 0.95 − 2 · 1.96 · φ(1.96). */
const SHARE_KEPT = 0.721

/**
 * Estimates how many events come together: the variance of counts as a multiple of that of independent events, at least 1.
 * Uses the differences of neighbouring counts, which the daily rhythm hardly affects (von Neumann 1941).
 *
 * @param counts of stretches of one length, oldest first
 * @param known the burst size to assume while the counts say little
 */
export function burstSize(counts: readonly number[], known: number): number {
  const pairs: { squared: number; both: number }[] = []
  for (let index = 1; index < counts.length; index++) {
    const [before, after] = [counts[index - 1] ?? 0, counts[index] ?? 0]
    if (before + after > 0) pairs.push({ squared: (after - before) ** 2, both: before + after })
  }
  const kept = pairs
    .toSorted((a, b) => a.squared * b.both - b.squared * a.both)
    .slice(0, Math.min(-1, -Math.floor(pairs.length * LEFT_OUT)))
  let squares = 0
  let counted = 0
  for (const { squared, both } of kept) {
    squares += squared
    counted += both
  }
  return Math.max(1, (squares / SHARE_KEPT + PRIOR_WEIGHT * known) / (counted + PRIOR_WEIGHT))
}

/**
 * Estimates bursts from the same hours of several weeks. Differences between weeks count as bursts, too, so the result is too
 * large for busy sites, but right for quiet ones, whose slots of one day say little. Takes a low value among all pairs of
 * weeks, because a week with a sale or an outage differs from all others.
 *
 * @param weeks counts of the same hours in each week, NaN when unknown
 * @returns `least` from the two most similar weeks
 */
export function burstSizeOfWeeks(weeks: readonly ArrayLike<number>[]): { usual: number; least: number } {
  const sizes = weeks
    .flatMap((week, index) => weeks.slice(index + 1).map((other) => burstSizeOfTwo(week, other)))
    .filter((size) => size !== null)
    .toSorted((a, b) => a - b)
  const at = (index: number): number => Math.max(1, sizes[index] ?? 1)
  return { usual: at(Math.floor((sizes.length - 1) / 3)), least: at(0) }
}

/** Two weeks are compared only if this share of their hours is known in both, e.g. without holidays and outages. */
const IN_BOTH = 0.5

/** Null when too few hours are known in both. */
function burstSizeOfTwo(week: ArrayLike<number>, other: ArrayLike<number>): number | null {
  let squares = 0
  let counted = 0
  let known = 0
  for (let hour = 0; hour < week.length; hour++) {
    const [count, otherCount] = [week[hour] ?? 0, other[hour] ?? 0]
    if (Number.isNaN(count + otherCount)) continue
    known++
    squares += (count - otherCount) ** 2
    counted += count + otherCount
  }
  if (known < IN_BOTH * week.length) return null
  return counted === 0 ? 1 : squares / counted
}

/** How many counts must share a divisor before it is taken for a batch size … */
const MIN_COUNTS = 8
/** … and how many of them must differ, because equal counts always divide each other. */
const MIN_DIFFERENT = 4
const MIN_PAUSES = 3
/** Counts that change between multiples of ten or more do not do so by chance. */
const SURE_SIZE = 10
const MIN_CHANGES = 4

/** Returns the events per batch if the site sends batches, so that every count is a multiple; otherwise 1. */
export function batchSize(counts: readonly number[]): number {
  const filled = counts.filter((count) => count > 0)
  if (filled.length < MIN_COUNTS) return 1
  // One pause may be a night or a fault; several show that batches take time to fill.
  const pauses = counts.filter((count, index) => count > 0 && counts[index - 1] === 0).length
  const size = Math.max(1, filled.reduce(greatestCommonDivisor))
  const changes = counts.filter((count, index) => index > 0 && count !== counts[index - 1]).length
  const isTold =
    new Set(filled).size >= MIN_DIFFERENT || pauses >= MIN_PAUSES || (size >= SURE_SIZE && changes >= MIN_CHANGES)
  return isTold ? size : 1
}

/** A quiet site may have no more hours with events on a weekend. */
const FEW_HOURS = 5

/** The same from whole hours: for sites so quiet that a batch takes hours to fill, and for the nights of busier ones. */
export function batchSizeOfHours(hours: readonly number[]): number {
  const filled = hours.filter((count) => count > 0)
  const pauses = hours.filter((count, index) => count > 0 && hours[index - 1] === 0).length
  const size = filled.reduce(greatestCommonDivisor, 0)
  // A busier site has a batch in every hour, but their numbers differ.
  const isTold = pauses >= MIN_PAUSES || (filled.length >= MIN_COUNTS && new Set(filled).size >= MIN_DIFFERENT)
  return filled.length >= FEW_HOURS && isTold && size >= SURE_SIZE ? size : 1
}

function greatestCommonDivisor(a: number, b: number): number {
  let [larger, smaller] = [a, b]
  while (smaller >= 1) [larger, smaller] = [smaller, larger % smaller]
  return larger
}
