import { type CountModel, deviation, logLowerTail, logUpperTail } from './negative-binomial.ts'

/**
 * The counts that pass: outside these a window would be a fall or a spike.
 *
 * @param model not of the spike itself, but of what is usual
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

/** The least count that is no fall. @param limit natural logarithm of the greatest chance that is unusual */
export const leastPassing = (model: CountModel, limit: number, ratio: number): number => {
  const { mean } = model
  const lowest = Math.max(0, mean - FAR * deviation(model))
  const off = (count: number) => logLowerTail(count, model) - limit
  return Math.min(ratio * mean, off(lowest) < 0 ? crossing(lowest, mean, off) : crossing(0, lowest, off))
}

/** The greatest count that is no spike, see `leastPassing`. */
export const mostPassing = (model: CountModel, limit: number, ratio: number): number => {
  const { mean } = model
  const most = MOST_ABOVE * mean
  const highest = Math.min(most, mean + FAR * deviation(model))
  const off = (count: number) => limit - logUpperTail(count, model)
  return Math.max(mean / ratio, off(highest) > 0 ? crossing(mean, highest, off) : crossing(highest, most, off))
}

const MOST_ABOVE = 20
/** Standard deviations within which a bound usually is: a short way makes a short search. */
const FAR = 6
const MOST_STEPS = 40
const NEAR_ENOUGH = 1e-6

/**
 * Where an increasing function crosses zero, or the end that is nearer to it: regula falsi (Illinois, Dowell and Jarratt 1971).
 */
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
