import { clamp, median } from './statistics.ts'
import { HOURS_A_DAY, HOURS_A_WEEK, likeOf, type WeekHours } from './time.ts'

/** Prior deviations, as shares of the level: between an hour of the week and the same hour of similar days, … */
const WEEKDAY_OWN = 0.12
/** … between an hour of the day and its neighbours, … */
const HOUR_OWN = 0.35
/** … and between a weekday and the mean of similar days. */
const DAY_OWN = 0.15

/** Expected counts by the hour of the local week. */
export interface Profile {
  /** NaN when nothing is known. */
  at(place: number): number
  /** The same for a past hour, without its own count. */
  without(index: number): number
  /** Whether a day of this kind, weekday or weekend, was ever seen at that hour, or at those around it. */
  isSeen(place: number): boolean
}

/**
 * Estimates each hour of the week. It is shrunk towards the same hour of similar days (weekdays or weekends) at the weekday's
 * level, and that towards the hours around it, the more, the fewer its own counts are (empirical Bayes, Efron and Morris
 * 1975). A prior of relative variance v weighs as much as burst/(v·μ) own hours.
 *
 * @param isUsual 1 for the hours that count
 * @param burst variance of counts over their mean
 */
export function profileOf(counts: Float64Array, isUsual: Uint8Array, { places }: WeekHours, burst: number): Profile {
  const [sums, weeks] = [new Float64Array(HOURS_A_WEEK), new Float64Array(HOURS_A_WEEK)]
  const [likeSums, likeDays] = [new Float64Array(2 * HOURS_A_DAY), new Float64Array(2 * HOURS_A_DAY)]
  for (const [index, place] of places.entries()) {
    if (isUsual[index] === 0) continue
    const count = counts[index] ?? 0
    add(sums, place, count)
    add(weeks, place, 1)
    add(likeSums, likeOf(place), count)
    add(likeDays, likeOf(place), 1)
  }
  const likes = withoutHoles(profileOfLikes(likeSums, likeDays, burst))
  const dayLevels = levelsOfDays(sums, weeks, likes, burst)
  const estimate = (place: number, sum: number, count: number): number => {
    const ofLike = (likes[likeOf(place)] ?? Number.NaN) * (dayLevels[Math.floor(place / HOURS_A_DAY)] ?? 1)
    const prior = burst / (WEEKDAY_OWN ** 2 * Math.max(ofLike, LEAST_MEAN))
    return (sum + prior * ofLike) / (count + prior)
  }
  const all = Float64Array.from({ length: HOURS_A_WEEK }, (_, place) =>
    estimate(place, sums[place] ?? 0, weeks[place] ?? 0),
  )
  const isSeen = (place: number): boolean => !Number.isNaN(likes[likeOf(place)] ?? Number.NaN)
  // A kind of day that was never seen is assumed to be like the other kind.
  const ofOtherKind = (place: number): number => likes[(likeOf(place) + HOURS_A_DAY) % likes.length] ?? Number.NaN
  return {
    at: (place) => (isSeen(place) ? (all[place] ?? Number.NaN) : ofOtherKind(place)),
    without: (index) => {
      const place = places[index] ?? 0
      return isUsual[index] === 1
        ? estimate(place, (sums[place] ?? 0) - (counts[index] ?? 0), (weeks[place] ?? 0) - 1)
        : (all[place] ?? Number.NaN)
    },
    isSeen,
  }
}

const LEAST_MEAN = 1e-3

const add = (sums: Float64Array, place: number, count: number): void => {
  sums[place] = (sums[place] ?? 0) + count
}

/** Mean counts of the hours of weekdays and of weekends; the fewer they are, the more they are smoothed. NaN for unknown hours. */
function profileOfLikes(sums: Float64Array, days: Float64Array, burst: number): Float64Array {
  return sums.map((own, place) => {
    const ownDays = days[place] ?? 0
    if (ownDays === 0) return Number.NaN
    const start = place < HOURS_A_DAY ? 0 : HOURS_A_DAY
    let [nearSum, nearDays] = [0, 0]
    for (const step of [-1, 0, 1]) {
      const near = start + ((place - start + step + HOURS_A_DAY) % HOURS_A_DAY)
      nearSum += sums[near] ?? 0
      nearDays += days[near] ?? 0
    }
    const smooth = nearSum / nearDays
    const prior = burst / (HOUR_OWN ** 2 * Math.max(smooth, LEAST_MEAN))
    return (own + prior * smooth) / (ownDays + prior)
  })
}

/** Hours in a row that were never known and are taken from those around them; a longer hole stays one. */
const LONGEST_HOLE = 2

/**
 * Gives an hour that was never known the mean of those before and after it: a service that restarts every night at three never
 * knows that hour, and nothing is compared beyond an hour without an expectation.
 */
function withoutHoles(likes: Float64Array): Float64Array {
  return likes.map((own, place) => {
    if (!Number.isNaN(own)) return own
    const start = place < HOURS_A_DAY ? 0 : HOURS_A_DAY
    const at = (steps: number): number =>
      likes[start + ((place - start + steps + HOURS_A_DAY) % HOURS_A_DAY)] ?? Number.NaN
    const steps = Array.from({ length: LONGEST_HOLE }, (_, index) => index + 1)
    const before = steps.find((step) => !Number.isNaN(at(-step)))
    const after = steps.find((step) => !Number.isNaN(at(step)))
    if (before === undefined || after === undefined || before + after > LONGEST_HOLE + 1) return Number.NaN
    return (at(-before) + at(after)) / 2
  })
}

/** Level of each weekday relative to the mean of similar days. */
function levelsOfDays(sums: Float64Array, weeks: Float64Array, likes: Float64Array, burst: number): Float64Array {
  const prior = burst / DAY_OWN ** 2
  return Float64Array.from({ length: 7 }, (_, day) => {
    let [own, usual] = [0, 0]
    for (let place = day * HOURS_A_DAY; place < (day + 1) * HOURS_A_DAY; place++) {
      const known = weeks[place] ?? 0
      if (known === 0) continue
      own += sums[place] ?? 0
      usual += known * (likes[likeOf(place)] ?? 0)
    }
    return (own + prior) / (usual + prior)
  })
}

/** The level follows the site up, but hardly down: otherwise it would follow a fault. */
const LEVEL_BOUNDS = { low: 0.9, high: 3 }
/** A level above this must have lasted on all days but one: campaigns end within a week, and a launch stays. */
const SURELY_MORE = 1.25
const DAYS_FOR_LEVEL = 7
const LEAST_DAYS = 3

/**
 * The median level of the last seven days relative to the profile, each day shrunk towards 1 as far as its count is
 * uncertain. A level far up is limited to the second lowest day.
 *
 * @param noise relative variance of a day's level
 */
export function levelOfLastWeek(
  counts: Float64Array,
  { length, places, isKnown }: WeekHours,
  profile: Profile,
  burst: number,
  noise: number,
): number {
  const prior = burst / Math.max(0.01, noise)
  const levels: number[] = []
  for (let end = length; end > length - DAYS_FOR_LEVEL * HOURS_A_DAY; end -= HOURS_A_DAY) {
    let [own, usual, known] = [0, 0, 0]
    for (let index = end - HOURS_A_DAY; index < end; index++) {
      if (isKnown[index] === 0) continue
      known++
      own += counts[index] ?? 0
      usual += profile.at(places[index] ?? 0)
    }
    if (known >= HOURS_A_DAY / 2) levels.push((own + prior) / (usual + prior))
  }
  if (levels.length < LEAST_DAYS) return 1
  const lasting = levels.toSorted((a, b) => a - b)[1] ?? 1
  return clamp(Math.min(median(levels), Math.max(SURELY_MORE, lasting)), LEVEL_BOUNDS.low, LEVEL_BOUNDS.high)
}
