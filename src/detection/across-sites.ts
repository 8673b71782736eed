/**
 * The natural logarithm of the chance that so many of some sites show the same fault at once by themselves: the upper tail of the Poisson
 * binomial distribution (Hodges and Le Cam 1960), by adding one site after the other. Every term is positive, so that small chances
 * are as exact as large ones.
 *
 * @param count how many of the sites show it
 * @param rates of each site the chance that it shows it at any moment, 0–1
 * @returns 0 for none, −∞ for more than can
 */
export function logChanceTogether(count: number, rates: readonly number[]): number {
  if (count <= 0) return 0
  if (count > rates.length) return Number.NEGATIVE_INFINITY
  // Element k: that k of the sites so far show it. What has reached `count` stays there.
  const chances = new Float64Array(count + 1)
  chances[0] = 1
  for (const rate of rates) {
    chances[count] = (chances[count] ?? 0) + rate * (chances[count - 1] ?? 0)
    for (let k = count - 1; k > 0; k--) chances[k] = (1 - rate) * (chances[k] ?? 0) + rate * (chances[k - 1] ?? 0)
    chances[0] = (1 - rate) * (chances[0] ?? 0)
  }
  return Math.log(chances[count] ?? 0)
}

/** A fall that this share of all sites show at once is this service's own fault, or the network's. */
const MOST_SITES = 0.5
/** Of fewer sites a share says nothing. */
const LEAST_SITES = 4

/** Whether a fall is so widespread that it says nothing about the sites. @param sites that could have shown it */
export const isEverywhere = (falling: number, sites: number): boolean =>
  sites >= LEAST_SITES && falling >= MOST_SITES * sites
