/** Runs by how long after their time they began, as `/metrics` reports them: bucket's end in seconds → runs up to there. */
export type LagCounts = ReadonlyMap<number, number>

const BUCKET = /^tagwarden_probe_lag_seconds_bucket\{le="([^"]+)"\} (\d+)$/gm
const RUNS = /^tagwarden_probe_runs_total\{[^}]*\} (\d+)$/gm

export interface ProbeMetrics {
  lag: LagCounts
  /** Runs whose result is written. */
  runs: number
}

export async function readProbeMetrics(serverUrl: string): Promise<ProbeMetrics> {
  const response = await fetch(`${serverUrl}/metrics`)
  return parseProbeMetrics(await response.text())
}

export function parseProbeMetrics(text: string): ProbeMetrics {
  return {
    lag: new Map([...text.matchAll(BUCKET)].map(([, end, count]) => [secondsOf(end), Number(count)])),
    runs: [...text.matchAll(RUNS)].reduce((sum, [, count]) => sum + Number(count), 0),
  }
}

const secondsOf = (end: string | undefined): number => (end === '+Inf' ? Number.POSITIVE_INFINITY : Number(end))

/** The runs of several stretches together, each the difference of the counts before and after it. */
export function lagBetween(stretches: readonly { before: LagCounts; after: LagCounts }[]): LagCounts {
  const sums = new Map<number, number>()
  for (const { before, after } of stretches) {
    for (const [end, count] of after) sums.set(end, (sums.get(end) ?? 0) + count - (before.get(end) ?? 0))
  }
  return sums
}

/** The end of the bucket that `share` of the runs lie in or below, seconds; NaN without runs. */
export function lagBound(counts: LagCounts, share: number): number {
  const runs = counts.get(Number.POSITIVE_INFINITY) ?? 0
  if (runs === 0) return Number.NaN
  const ends = [...counts].filter(([, count]) => count >= share * runs).map(([end]) => end)
  return Math.min(...ends)
}
