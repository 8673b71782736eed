/** Linear steps in each power of two: a value is known to within 1/64, 1.6 %. */
const STEP_BITS = 6
const STEPS = 1 << STEP_BITS
const LARGEST = 2 ** 31 - 1

/**
 * A log-linear histogram of whole numbers from 0 to 2^31 − 1 (larger ones count as that). Recording is one array
 * increment, because the load generator does it at every answer.
 */
export class Histogram {
  readonly #counts = new Float64Array(bucketOf(LARGEST) + 1)
  count = 0
  max = 0

  record(value: number): void {
    const whole = Math.min(LARGEST, Math.max(0, Math.round(value)))
    const bucket = bucketOf(whole)
    this.#counts[bucket] = (this.#counts[bucket] ?? 0) + 1
    this.count += 1
    if (whole > this.max) this.max = whole
  }

  /** The value that `share` (0–1) of the recorded ones do not exceed, rounded up to its bucket's end; 0 when empty. */
  percentile(share: number): number {
    const rank = Math.max(1, Math.ceil(share * this.count))
    let seen = 0
    for (const [bucket, count] of this.#counts.entries()) {
      seen += count
      if (seen >= rank) return Math.min(this.max, lastValueOf(bucket))
    }
    return this.max
  }
}

function bucketOf(value: number): number {
  const shift = Math.max(0, 31 - Math.clz32(value) - STEP_BITS)
  return shift * STEPS + (value >>> shift)
}

function lastValueOf(bucket: number): number {
  const shift = Math.max(0, Math.floor(bucket / STEPS) - 1)
  return (bucket - shift * STEPS + 1) * 2 ** shift - 1
}
