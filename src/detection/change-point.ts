import { logRatios } from './statistics.ts'

/** What came in a stretch of time, and how much of it was of the kind that is looked for: failed, slow. Need not be whole. */
export interface Share {
  /** Start of the stretch, epoch ms. */
  readonly from: number
  readonly count: number
  readonly of: number
}

/** So sure that all was well between an earlier fault and this one that it is wrong once in a thousand times (Ville 1939). */
const WELL_BETWEEN = Math.log(1_000)

/**
 * When a share rose from a `passing` one to what it is now, epoch ms: from there on the counts speak most for the new share (likelihood
 * ratio; the change point of Page's CUSUM, "Continuous inspection schemes", 1954). Looks back until they surely speak for the passing share.
 *
 * The place where the share's lower bound is highest is not the answer: of three executions in five minutes it is whichever minutes happened
 * to be worst. Alerts then began a quarter of an hour after their fault: their loss was understated, and a fault of one vendor on
 * several sites was not recognized, as that has to begin at once.
 *
 * @param shares oldest first
 * @param now the share of the newest of them, more than `passing`
 */
export function roseAt(shares: readonly Share[], now: Omit<Share, 'from'>, passing: number): number {
  // All of a few are not all that will ever come (Jeffreys' prior).
  const share = (now.count + 0.5) / (now.of + 1)
  const [one, another] = logRatios(share, passing)
  return changedAt(shares.map(({ from, count, of }) => ({ from, support: count * one + (of - count) * another })))
}

/** How much what came in a stretch of time speaks for a change, natural logarithm of the likelihood ratio; `from` as of `Share`. */
export interface Support {
  readonly from: number
  readonly support: number
}

/** From which stretch on all that came speaks most for a change, epoch ms. Looks back until it surely speaks against it. @param stretches oldest first */
export function changedAt(stretches: readonly Support[]): number {
  let sum = 0
  let most = { sum: 0, from: stretches.at(-1)?.from ?? 0 }
  for (const { from, support } of stretches.toReversed()) {
    sum += support
    if (sum > most.sum) most = { sum, from }
    // Before any of the fault was found, what is well came after it.
    else if (most.sum > 0 && sum < most.sum - WELL_BETWEEN) break
  }
  return most.from
}
