import { logLimit } from './false-alarms.ts'
import { logLowerTail } from './negative-binomial.ts'
import { clamp } from './statistics.ts'
import type { UsualCount } from './usual-counts.ts'
import { isBad, type Verdict } from './verdict.ts'
import { type Course, shapeNoise } from './volume-counts.ts'
import type { FallLimits, WindowVerdict } from './volume-fall.ts'

/** A fall that the last run found. */
export interface OpenFall {
  readonly since: number
  /** How much feedback had widened what passes: people who call it no problem end it. */
  readonly widening: number
}

/** By event; null for the site. */
export type OpenFalls = ReadonlyMap<string | null, OpenFall>

/**
 * Returns the falls that the next run keeps until the counts say that they are over.
 *
 * @param before those that were open before this run: a silence within a fall does not end it
 */
export function openFalls({ details }: Verdict, before: OpenFalls): OpenFalls {
  const open = new Map<string | null, OpenFall>()
  for (const finding of details.findings) {
    const { subject, since, evidence } = finding
    if (!isBad(finding) || since === null) continue
    const name = subject.event_name ?? null
    const fall = { since: Date.parse(since), widening: wideningIn(evidence.widening) }
    const known = evidence.kind === 'fall' ? fall : evidence.kind === 'zero' ? before.get(name) : undefined
    if (known !== undefined) open.set(name, known)
  }
  return open
}

const wideningIn = (widening: unknown): number => (typeof widening === 'number' ? widening : 1)

/** A level is back at this share of the usual one. */
const BACK_AT = 0.9
/** A fall to less than this share of the usual level counts as one to it. */
const LOWEST = 0.05
/** How many bursts the smallest loss that is a fall weighs as much as, against the counts from its beginning. */
const PRIOR_BURSTS = 5
/** Levels that vary more could never show that it is over. After weeks with a fault in them, they seem to. */
const MOST_NOISE = 0.02
/** Odds at which a newest part of a fall shows that it is over. */
const OVER = Math.log(20)

/**
 * Judges a fall that an earlier run found. It lasts until some newest part speaks for the usual level against that of the part before it (likelihood
 * ratio of negative binomial numbers in bursts). Null when it is over.
 *
 * @param course up to a day of the subject
 */
export function keptFall(
  course: Course,
  { since, widening }: OpenFall,
  { noise, ...usual }: Pick<UsualCount, 'noise' | 'widening'>,
  burst: number,
  isSite: boolean,
  limits: FallLimits,
): WindowVerdict | null {
  const { from, measured, expected, covered } = course
  // What a special day brings is unknown, and people who call a fall no problem do not want it kept.
  if (usual.widening > widening || (isSite && course.specialUntil > since)) return null
  const index = from.findLastIndex((start) => start >= since)
  const [came, mean, length] = [measured[index], expected[index], covered[index]]
  if (came === undefined || mean === undefined || length === undefined) return null
  const shape = (part: number, time: number) => (isSite ? shapeNoise(course, part, time) : 0)
  const isOver = measured.slice(0, index).some((newest, part) => {
    const [usually, time] = [expected[part] ?? 0, covered[part] ?? 0]
    const before = (came - newest + limits.ratio * PRIOR_BURSTS * burst) / (mean - usually + PRIOR_BURSTS * burst)
    const lost = clamp(before, LOWEST, limits.ratio) * usually
    const back = BACK_AT * usually
    return (
      logOdds(
        newest / burst,
        back / burst,
        lost / burst,
        Math.min(MOST_NOISE, noise.steady(time)) + shape(part, time),
      ) > OVER
    )
  })
  if (isOver) return null
  const model = { mean, burst, noise: noise.level(length) + shape(index, length) }
  const limit = logLimit(limits.budget, length)
  return { kind: 'fall', index, measured: came, model, chance: logLowerTail(came, model), limit }
}

/** How strongly a Poisson number speaks for one mean against another, if the level is a gamma number of this relative variance. */
const logOdds = (count: number, mean: number, other: number, noise: number): number =>
  count * Math.log(mean / other) - (count + 1 / noise) * Math.log((1 + noise * mean) / (1 + noise * other))
