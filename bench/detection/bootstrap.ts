import { Random } from './random.ts'

const SAMPLES = 1_000
const OUTSIDE = 0.025

/**
 * The 95 % interval of a figure: its percentiles over samples of as many sites, drawn again and again from those that were measured (Efron
 * 1979). Sites are drawn whole, as what happens on one of them is not independent.
 */
export function intervalOf<T>(
  sites: readonly T[],
  figure: (sample: readonly T[]) => number,
): { low: number; high: number } {
  const random = new Random(1)
  const values = Array.from({ length: SAMPLES }, () =>
    figure(sites.map((site) => sites[Math.floor(random.next() * sites.length)] ?? site)),
  ).toSorted((a, b) => a - b)
  const at = (share: number) => values[Math.round(share * (SAMPLES - 1))] ?? Number.NaN
  return { low: at(OUTSIDE), high: at(1 - OUTSIDE) }
}
