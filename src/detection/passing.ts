import { type CountModel, deviation, logLowerTail, logUpperTail } from './negative-binomial.ts'

/**
 * Returns the counts that pass: outside, a window would be a fall or a spike.
 *
 * @param model of what is usual, not of the spike
 */
export const passing = (
  { model, limit }: { readonly model: CountModel; readonly limit: number },
  { ratio }: { readonly ratio: number },
): Band => ({
  low: leastPassing(model, limit, ratio),
  high: mostPassing(model, limit, ratio),
})

export interface Band {
  readonly low: number
  readonly high: number
}

/**
 * Returns the smallest count that is no fall.
 *
 * @param limit natural logarithm of the largest chance that is unusual
 */
export const leastPassing = (model: CountModel, limit: number, ratio: number): number => {
  const { mean } = model
  const lowest = Math.max(0, mean - FAR * deviation(model))
  const off = (count: number) => logLowerTail(count, model) - limit
  return Math.min(ratio * mean, off(lowest) < 0 ? crossing(lowest, mean, off) : crossing(0, lowest, off))
}

/** Returns the largest count that is no spike, see `leastPassing`. */
export const mostPassing = (model: CountModel, limit: number, ratio: number): number => {
  const { mean, burst } = model
  const most = MOST_ABOVE * Math.max(mean, burst)
  const highest = Math.min(most, mean + FAR * deviation(model))
  const off = (count: number) => limit - logUpperTail(count, model)
  return Math.max(mean / ratio, off(highest) > 0 ? crossing(mean, highest, off) : crossing(highest, most, off))
}

const MOST_ABOVE = 20
/** Bounds usually lie within this many standard deviations, and a short interval makes a short search. */
const FAR = 6
const MOST_STEPS = 40
const NEAR_ENOUGH = 1e-6

/** Finds where an increasing function crosses zero, or else the nearer end (regula falsi, Illinois variant, Dowell and Jarratt 1971). */
function crossing(from: number, to: number, valueAt: (count: number) => number): number {
  let [low, high] = [from, to]
  let [below, above] = [valueAt(low), valueAt(high)]
  if (!(below < 0)) return low
  if (!(above > 0)) return high
  let side = 0
  for (let step = 0; step < MOST_STEPS && high - low > NEAR_ENOUGH * high; step++) {
    const secant = (low * above - high * below) / (above - below)
    const middle = secant > low && secant < high ? secant : (low + high) / 2
    const value = valueAt(middle)
    if (Math.abs(value) < NEAR_ENOUGH) return middle
    if (value < 0) {
      ;[low, below] = [middle, value]
      if (side < 0) above /= 2
      side = -1
    } else {
      ;[high, above] = [middle, value]
      if (side > 0) below /= 2
      side = 1
    }
  }
  return (low + high) / 2
}
