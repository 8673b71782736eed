/** Into how many parts the same amount of work is divided. */
export const PARTS = 64
/**
 * Linear work takes as long in one piece as in 64 parts, work that grows with the power of 1.5 takes 8 times as long, quadratic work 64
 * times. This is as far from the first as from the second: room for the garbage collector and for caches that are too small.
 */
const LONGER_AT_MOST = Math.sqrt(8)
/** So many of the parts are done at a time, until that took long enough to be measured; all of them would only cost time. */
const PARTS_DONE = 8
/** ms: processor time is counted by ticks of 4 ms on some machines, and some work is next to none. */
const TICKS_MS = 20
const ROUNDS = 2
const ROUNDS_AT_MOST = 12

export interface Growth {
  /** ms of all parts, reckoned from those that were done. */
  inParts: number
  /** ms of the same amount in one piece. */
  atOnce: number
}

export const isLinear = ({ inParts, atOnce }: Growth): boolean => atOnce < inParts * LONGER_AT_MOST + TICKS_MS

export const inWords = ({ inParts, atOnce }: Growth): string =>
  `${inParts.toFixed()} ms in parts, ${atOnce.toFixed()} ms at once, ${(atOnce / inParts).toFixed(2)} times`

/**
 * How long work takes in `PARTS` parts, from 0 on, and in one piece, in processor time of this thread: what else runs on the machine takes none of
 * it. The least of several rounds counts; a round may still be held up by cold caches, while work that grows too fast is too long in
 * every one.
 */
export async function growthOf(part: (index: number) => Promise<void>, whole: () => Promise<void>): Promise<Growth> {
  const least: Growth = { inParts: Number.POSITIVE_INFINITY, atOnce: Number.POSITIVE_INFINITY }
  // What is run for the first time has yet to be compiled.
  await part(0)
  for (let round = 0; round < ROUNDS || (!isLinear(least) && round < ROUNDS_AT_MOST); round++) {
    least.inParts = Math.min(least.inParts, await allPartsMs(part))
    least.atOnce = Math.min(least.atOnce, await processorMs(whole))
  }
  return least
}

async function allPartsMs(part: (index: number) => Promise<void>): Promise<number> {
  let done = 0
  let spent = 0
  while (done < PARTS && spent < TICKS_MS) {
    spent += await processorMs(async () => {
      for (let some = 0; some < PARTS_DONE; some++) await part(done + some)
    })
    done += PARTS_DONE
  }
  return (spent * PARTS) / done
}

async function processorMs(work: () => Promise<void>): Promise<number> {
  const before = process.threadCpuUsage()
  await work()
  const { user, system } = process.threadCpuUsage(before)
  return (user + system) / 1_000
}
