import { LATENCY_BOUNDS_MS } from '../rollups/index.ts'

/**
 * The q-quantile (0–1) of a histogram in ms, interpolated linearly inside its bucket as Prometheus' `histogram_quantile`
 * does; what lies above the last bound counts as the last bound. Null without observations.
 *
 * @param counts observations per bucket of `LATENCY_BOUNDS_MS`, and at the end those above
 */
export function histogramQuantile(counts: readonly number[], q: number): number | null {
  const observations = counts.reduce((sum, count) => sum + count, 0)
  if (observations === 0) return null
  const rank = q * observations
  let below = 0
  let lower = 0
  for (const [index, upper] of LATENCY_BOUNDS_MS.entries()) {
    const count = counts[index] ?? 0
    if (count > 0 && below + count >= rank) return lower + ((upper - lower) * (rank - below)) / count
    below += count
    lower = upper
  }
  return lower
}
