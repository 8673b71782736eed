import { logRatios, sum } from './statistics.ts'

/** What came in a stretch of time, and how much of it was of the kind that is looked for: failed, slow, with a field. Need not be whole. */
export interface Share {
  /** Start of the stretch, epoch ms. */
  readonly from: number
  readonly count: number
  readonly of: number
}

/** So sure that all was well between an earlier fault and this one that it is wrong once in a thousand times (Ville 1939). */
const WELL_BETWEEN = Math.log(1_000)

/**
 * When a share became what it is now, epoch ms: from there on the counts speak most for the new share against what passes, or is usual (likelihood
 * ratio; the change point of Page's CUSUM, "Continuous inspection schemes", 1954). Looks back until they surely speak against it.
 *
 * The place where the share's lower bound is highest is not the answer: of three executions in five minutes it is whichever minutes happened
 * to be worst. Alerts then began a quarter of an hour after their fault: their loss was understated, and a fault of one vendor on
 * several sites was not recognized, as that has to begin at once.
 *
 * @param shares oldest first
 * @param now the new share
 * @param beforeAt what it is compared with, by the start of the stretch; above 0 and below 1
 * @param together so many come in one clump, and say as much as one that comes alone
 */
export function changedAt(
  shares: readonly Share[],
  now: Omit<Share, 'from'>,
  beforeAt: (from: number) => number,
  together = 1,
): number {
  // All of a few are not all that will ever come (Jeffreys' prior).
  const share = (now.count / together + 0.5) / (now.of / together + 1)
  let support = 0
  let most = { support: 0, from: shares.at(-1)?.from ?? 0 }
  for (const { from, count, of } of shares.toReversed()) {
    const [one, another] = logRatios(share, beforeAt(from))
    support += (count * one + (of - count) * another) / together
    if (support > most.support) most = { support, from }
    // Before any of the fault was found, what is well came after it.
    else if (most.support > 0 && support < most.support - WELL_BETWEEN) break
  }
  return most.from
}

/** So sure that a tag was repaired that it is wrong once in twenty times (Ville 1939). */
const REPAIRED = Math.log(20)

/**
 * Whether the newest executions of a rare tag speak for a share that passes against that of all of them, the oldest of which are hours old (likelihood ratio).
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
