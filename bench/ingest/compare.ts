import type { LoadResult } from '../lib/http-load.ts'
import type { Check, Measurement, Outcome } from '../lib/table.ts'

/** Above this share of its core the generator may have been what limited a result. */
const GENERATOR_LIMIT = 0.97

export interface Target {
  text: string
  isReached: (measured: Omit<Measurement, 'target' | 'reached'>) => boolean
}

export const atLeastRatio = (ratio: number): Target => ({
  text: `ratio ≥ ${ratio.toFixed(2)}`,
  isReached: (measured) => measured.ratio >= ratio,
})

/**
 * Medians over the rounds. The ratio is the median of the rounds' own ratios, so that a slow minute of the machine, which
 * meets both servers of a round, does not show in it. A row is reached only when every answer was a 200.
 */
export function compare(
  scenario: string,
  bare: readonly LoadResult[],
  tagwarden: readonly LoadResult[],
  target: Target,
): Outcome {
  const measured = {
    scenario,
    barePerSecond: medianOf(bare, (result) => result.requestsPerSecond),
    perSecond: medianOf(tagwarden, (result) => result.requestsPerSecond),
    ratio: ratioOf(tagwarden, bare),
    p50Ms: medianOf(tagwarden, (result) => result.p50Ms),
    p99Ms: medianOf(tagwarden, (result) => result.p99Ms),
  }
  const checks = [...faultChecks(scenario, tagwarden), ...generatorChecks(scenario, [...bare, ...tagwarden])]
  const reached = checks.length === 0 && target.isReached(measured)
  return { measurements: [{ ...measured, target: target.text, reached }], checks }
}

/** Median of requests/s of `results` as a share of those of `base` in the same round. */
export const ratioOf = (results: readonly LoadResult[], base: readonly LoadResult[]): number =>
  median(results.map((result, round) => result.requestsPerSecond / (base[round]?.requestsPerSecond ?? Number.NaN)))

export const medianOf = (results: readonly LoadResult[], figureOf: (result: LoadResult) => number): number =>
  median(results.map(figureOf))

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

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const upper = sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
  const lower = sorted[Math.ceil(sorted.length / 2) - 1] ?? Number.NaN
  return (lower + upper) / 2
}

function faultChecks(scenario: string, results: readonly LoadResult[]): Check[] {
  const share = shareOfStatus(results, 200)
  if (share === 1) return []
  return [
    { what: `${scenario}: answers with 200`, value: `${(share * 100).toFixed(3)} %`, target: 'all', reached: false },
  ]
}

function generatorChecks(scenario: string, results: readonly LoadResult[]): Check[] {
  const load = Math.max(...results.map((result) => result.generatorLoad))
  if (load < GENERATOR_LIMIT) return []
  return [
    {
      what: `${scenario}: the generator's core`,
      value: `${Math.round(load * 100)} % busy, it may have been the limit`,
      target: `< ${GENERATOR_LIMIT * 100} %`,
      reached: false,
    },
  ]
}
