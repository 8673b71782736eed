/** Counts that what is known from before weighs as much as, so that a few new ones do not say much against it. */
const PRIOR_WEIGHT = 40
/** The pairs that differ most are left out, one at least: a fault makes one such pair when it begins and one when it ends. */
const LEFT_OUT = 0.05
/** Share of a sum of squares that is left without its largest 5 %, for a normal distribution: 0.95 − 2 · 1.96 · φ(1.96). */
const SHARE_KEPT = 0.721

/**
 * How many events come at a time: the variance of counts as a multiple of what independent events have, at least 1. Taken from
 * the differences of neighbouring counts, which the daily rhythm hardly changes (von Neumann 1941).
 *
 * @param counts of stretches of one length, in order of time
 * @param known the burst size to believe in while the counts say little
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
 * The same from counts of the same hours of several weeks: what weeks differ by counts as bursts here, which makes it too large
 * for busy sites and right for quiet ones, of whom a day's slots say little. Weeks are taken two by two, and of all twos one
 * that differs little: a week with a sale or an outage differs from all others.
 *
 * @param weeks counts of the same hours in each, NaN where they are not known
 * @returns `least` as the two weeks that are most alike have it
 */
export function burstSizeOfWeeks(weeks: readonly ArrayLike<number>[]): { usual: number; least: number } {
  const sizes = weeks
    .flatMap((week, index) => weeks.slice(index + 1).map((other) => burstSizeOfTwo(week, other)))
    .filter((size) => size !== null)
    .toSorted((a, b) => a - b)
  const at = (index: number): number => Math.max(1, sizes[index] ?? 1)
  return { usual: at(Math.floor((sizes.length - 1) / 3)), least: at(0) }
}

/** Two weeks say something of each other where so much of both is known: holidays and outages are left out. */
const IN_BOTH = 0.5

/** Null where too little is known of both. */
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

/** Counts that have to have a common divisor before it is taken for a batch's size … */
const MIN_COUNTS = 8
/** … and how different they have to be: that equal counts divide each other says nothing. */
const MIN_DIFFERENT = 4
const MIN_PAUSES = 3
/** Counts that go to and fro between multiples of ten or of more are not made by chance. */
const SURE_SIZE = 10
const MIN_CHANGES = 4

/** Events in a batch, where a site sends in batches: then every count is a multiple of it. 1 otherwise. */
export function batchSize(counts: readonly number[]): number {
  const filled = counts.filter((count) => count > 0)
  if (filled.length < MIN_COUNTS) return 1
  // One pause may be a night or a fault; several are waiting for a batch to fill.
  const pauses = counts.filter((count, index) => count > 0 && counts[index - 1] === 0).length
  const size = Math.max(1, filled.reduce(greatestCommonDivisor))
  const changes = counts.filter((count, index) => index > 0 && count !== counts[index - 1]).length
  const isTold =
    new Set(filled).size >= MIN_DIFFERENT || pauses >= MIN_PAUSES || (size >= SURE_SIZE && changes >= MIN_CHANGES)
  return isTold ? size : 1
}

/** On a weekend a quiet site has no more hours with events. */
const FEW_HOURS = 5

/** The same from whole hours, for a site so quiet that even hours pass until a batch is full, and for the nights of a busier one. */
export function batchSizeOfHours(hours: readonly number[]): number {
  const filled = hours.filter((count) => count > 0)
  const pauses = hours.filter((count, index) => count > 0 && hours[index - 1] === 0).length
  const size = filled.reduce(greatestCommonDivisor, 0)
  // A busier site has no hour without a batch, but hours with different numbers of them.
  const isTold = pauses >= MIN_PAUSES || (filled.length >= MIN_COUNTS && new Set(filled).size >= MIN_DIFFERENT)
  return filled.length >= FEW_HOURS && isTold && size >= SURE_SIZE ? size : 1
}

function greatestCommonDivisor(a: number, b: number): number {
  let [larger, smaller] = [a, b]
  while (smaller >= 1) [larger, smaller] = [smaller, larger % smaller]
  return larger
}
