/** Number of parts into which the same work is divided. */
export const PARTS = 64
/**
 * Linear work takes as long in one piece as in 64 parts, work that grows with a power of 1.5 takes 8 times as long, quadratic work 64
 * times. The limit is the geometric mean of 1 and 8, which leaves room for the garbage collector and for small caches.
 */
const LONGER_AT_MOST = Math.sqrt(8)
/** Parts run at a time until it took long enough to measure; running all of them would only cost time. */
const PARTS_DONE = 8
/** Minimum measured time, ms, because some machines count processor time in ticks of 4 ms. */
const TICKS_MS = 20
const ROUNDS = 2
const ROUNDS_AT_MOST = 12

export interface Growth {
  /** Time of all parts, extrapolated from those run, ms. */
  inParts: number
  /** Time of the same work in one piece, ms. */
  atOnce: number
}

export const isLinear = ({ inParts, atOnce }: Growth): boolean => atOnce < inParts * LONGER_AT_MOST + TICKS_MS

export const inWords = ({ inParts, atOnce }: Growth): string =>
  `${inParts.toFixed()} ms in parts, ${atOnce.toFixed()} ms at once, ${(atOnce / inParts).toFixed(2)} times`

/**
 * Measures work in `PARTS` parts, numbered from 0, and in one piece, in processor time of this thread, which other processes do not affect.
 * The minimum of several rounds counts: cold caches may slow a round, while work that grows too fast is too slow in every one.
 */
export async function growthOf(part: (index: number) => Promise<void>, whole: () => Promise<void>): Promise<Growth> {
  const least: Growth = { inParts: Number.POSITIVE_INFINITY, atOnce: Number.POSITIVE_INFINITY }
  // Run it once before measuring, so that it is compiled.
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
