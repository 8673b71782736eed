import { median, robustSpread } from './statistics.ts'

/** What a count should be. */
export interface Expectation {
  readonly expected: number
  /** One standard deviation, as far as it is known. */
  readonly spread: number
  /** Of how many earlier counts the expectation was made. */
  readonly samples: number
}

/** How far a count is from what was expected. */
export interface Deviation {
  /** Negative where there is less than expected. */
  readonly z: number
  /** Measured over expected; infinite where nothing was expected and something came. */
  readonly ratio: number
}

/**
 * The median of the same stretch in earlier weeks, so that one week with a sale or an outage does not move it. The spread
 * is the larger of what the weeks differ by and of what chance does to a count: √n for events that come alone, √(n·b) for
 * events that come `b` at a time (sessions, batches).
 */
export function expectationOf(samples: readonly number[], burst: number): Expectation | null {
  if (samples.length === 0) return null
  const expected = median(samples)
  const spread = Math.max(robustSpread(samples, expected), Math.sqrt(burst * Math.max(0, expected)))
  return { expected, spread, samples: samples.length }
}

/** A count of nothing has no spread of its own; it is judged as if one burst had been expected. */
export function deviation(measured: number, { expected, spread }: Expectation, burst: number): Deviation {
  const difference = measured - expected
  return {
    z: difference === 0 ? 0 : difference / Math.max(spread, Math.sqrt(burst)),
    ratio: expected > 0 ? measured / expected : measured > 0 ? Number.POSITIVE_INFINITY : 1,
  }
}
