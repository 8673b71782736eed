/**
 * The natural logarithm of the chance that at least `count` sites show the same fault at once independently: the upper tail
 * of the Poisson binomial distribution (Hodges and Le Cam 1960), computed by adding one site after the other. All terms are
 * positive, so small chances are as exact as large ones.
 *
 * @param count how many of the sites show it
 * @param rates for each site, the chance that it shows the fault at any moment, 0–1
 * @returns 0 for none, −∞ for more sites than there are
 */
export function logChanceTogether(count: number, rates: readonly number[]): number {
  if (count <= 0) return 0
  if (count > rates.length) return Number.NEGATIVE_INFINITY
  // Element k: the chance that k of the sites so far show it; the last element means `count` or more.
  const chances = new Float64Array(count + 1)
  chances[0] = 1
  for (const rate of rates) {
    chances[count] = (chances[count] ?? 0) + rate * (chances[count - 1] ?? 0)
    for (let k = count - 1; k > 0; k--) chances[k] = (1 - rate) * (chances[k] ?? 0) + rate * (chances[k - 1] ?? 0)
    chances[0] = (1 - rate) * (chances[0] ?? 0)
  }
  return Math.log(chances[count] ?? 0)
}
