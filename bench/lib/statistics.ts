import type { LoadResult } from './http-load.ts'

/** Requests/s of each of `results` as a share of those of `base` in the same round. */
export const ratiosOf = (results: readonly LoadResult[], base: readonly LoadResult[]): number[] =>
  results.map((result, round) => result.requestsPerSecond / (base[round]?.requestsPerSecond ?? Number.NaN))

export const medianOf = <Result extends LoadResult>(
  results: readonly Result[],
  figureOf: (result: Result) => number,
): number => median(results.map(figureOf))

export const acceptedOf = (results: readonly LoadResult[]): number =>
  results.reduce((sum, result) => sum + result.accepted, 0)

/** Share of the answers that had `status`; requests that got none count as answers with another. */
export function shareOfStatus(results: readonly LoadResult[], status: number): number {
  let matching = 0
  let all = 0
  for (const result of results) {
    matching += result.statuses[status] ?? 0
    all += result.unanswered + Object.values(result.statuses).reduce((sum, count) => sum + count, 0)
  }
  return all === 0 ? 0 : matching / all
}

/** The value below which a share of the sorted ones are. */
export const quantile = (sorted: readonly number[], share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const upper = sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
  const lower = sorted[Math.ceil(sorted.length / 2) - 1] ?? Number.NaN
  return (lower + upper) / 2
}
