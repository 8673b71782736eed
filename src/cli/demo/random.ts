/** A number from 0 up to, but not including, 1. */
export type Random = () => number

/** Numbers that depend only on `seed`: FNV-1a hashes the text, and mulberry32 (32 bits of state) continues from there. */
export function seededRandom(seed: string): Random {
  let state = 0x811c9dc5
  for (let i = 0; i < seed.length; i++) state = Math.imul(state ^ seed.charCodeAt(i), 0x01000193)
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

/** A Poisson-distributed count with the given mean (Knuth's method, suitable for means below about 500). */
export function poisson(random: Random, mean: number): number {
  const limit = Math.exp(-mean)
  let count = 0
  for (let product = random(); product > limit; product *= random()) count++
  return count
}

/** A value whose logarithm is normally distributed (Box-Muller), with the given median. */
export function logNormal(random: Random, median: number, spread: number): number {
  const normal = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
  return median * Math.exp(spread * normal)
}

/** A random index of `weights`, with probability proportional to its weight. */
export function weighted(random: Random, weights: readonly number[]): number {
  let sum = 0
  for (const weight of weights) sum += weight
  let rest = random() * sum
  for (let place = 0; place < weights.length; place++) {
    rest -= weights[place] ?? 0
    if (rest < 0) return place
  }
  return weights.length - 1
}
