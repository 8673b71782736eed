import { logRatios, sum } from './statistics.ts'

/** What came in a stretch of time, and how much of it had the property in question: failed, slow, with a field. Counts need not be whole numbers. */
export interface Share {
  /** Start of the stretch, epoch ms. */
  readonly from: number
  readonly count: number
  readonly of: number
}

/** Certainty that all was well between an earlier fault and this one: wrong once in a thousand times (Ville 1939). */
const WELL_BETWEEN = Math.log(1_000)

/**
 * Returns when a share became what it is now, epoch ms: from then on, the counts support the new share most strongly against what passes or is usual
 * (likelihood ratio; the change point of Page's CUSUM, "Continuous inspection schemes", 1954). Looks back until the counts certainly contradict it.
 *
 * Not where the share's lower bound is highest: with three executions in five minutes, that is whichever minutes happened to be worst. Alerts then
 * began a quarter of an hour after their fault, so losses were understated, and a vendor's fault on several sites was not recognised, because it
 * must begin at the same time on all.
 *
 * @param shares oldest first
 * @param now the new share
 * @param beforeAt what it is compared with, by the start of the stretch; above 0 and below 1
 * @param together how many come in one clump and say as much as a single one
 */
export function changedAt(
  shares: readonly Share[],
  now: Omit<Share, 'from'>,
  beforeAt: (from: number) => number,
  together = 1,
): number {
  // A few that all have the property do not prove that all ever will (Jeffreys' prior).
  const share = (now.count / together + 0.5) / (now.of / together + 1)
  let support = 0
  let most = { support: 0, from: shares.at(-1)?.from ?? 0 }
  for (const { from, count, of } of shares.toReversed()) {
    const [one, another] = logRatios(share, beforeAt(from))
    support += (count * one + (of - count) * another) / together
    if (support > most.support) most = { support, from }
    // Good counts newer than any part of the fault do not end the search.
    else if (most.support > 0 && support < most.support - WELL_BETWEEN) break
  }
  return most.from
}

/** Certainty that a tag was repaired: wrong once in twenty times (Ville 1939). */
const REPAIRED = Math.log(20)

/**
 * Whether the newest executions of a rare tag support a share that passes against the share of all of them, the oldest of which are hours old
 * (likelihood ratio).
 *
 * @param counts oldest first: bad ones, of how many
 */
export function isOver(counts: readonly Omit<Share, 'from'>[], passing: number): boolean {
  const share = sum(counts.map(({ count }) => count)) / sum(counts.map(({ of }) => of))
  if (share >= 1 || share <= passing) return false
  const [bad, good] = logRatios(passing, share)
  let support = 0
  return counts.toReversed().some(({ count, of }) => {
    support += (of - count) * good + count * bad
    return support > REPAIRED
  })
}
