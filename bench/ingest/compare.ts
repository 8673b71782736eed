import type { LoadResult } from '../lib/http-load.ts'
import { median, medianOf, ratiosOf, shareOfStatus } from '../lib/statistics.ts'
import type { Check, Measurement, Outcome } from '../lib/table.ts'
import type { RoundResult } from './rounds.ts'

/** Above this share of its core the generator may have been what limited a result. */
const GENERATOR_LIMIT = 0.97
/** The largest of the rounds' ratios may be this many times the smallest; beyond, the machine was too busy for a result. */
const MOST_DISAGREEMENT = 1.25

export interface Target {
  text: string
  isReached: (measured: Omit<Measurement, 'target' | 'reached'>) => boolean
}

export const atLeastRatio = (ratio: number): Target => ({
  text: `ratio ≥ ${ratio.toFixed(2)}`,
  isReached: (measured) => measured.ratio >= ratio,
})

/**
 * Medians over the rounds; the ratio is the median of the rounds' own. A row is reached only when every answer was a 200,
 * the generator had time to spare and the rounds agree: other work that slows the bare server alone would otherwise make
 * Tagwarden look good.
 */
export function compare(
  scenario: string,
  bare: readonly RoundResult[],
  tagwarden: readonly RoundResult[],
  target: Target,
): Outcome {
  const ratios = ratiosOf(tagwarden, bare)
  const measured = {
    scenario,
    barePerSecond: medianOf(bare, (result) => result.requestsPerSecond),
    perSecond: medianOf(tagwarden, (result) => result.requestsPerSecond),
    ratio: median(ratios),
    bareMicros: medianOf(bare, (result) => result.processorMicros),
    micros: medianOf(tagwarden, (result) => result.processorMicros),
    p50Ms: medianOf(tagwarden, (result) => result.p50Ms),
    p99Ms: medianOf(tagwarden, (result) => result.p99Ms),
  }
  const all = [...bare, ...tagwarden]
  const checks = [
    ...faultChecks(scenario, all),
    ...generatorChecks(scenario, all),
    ...agreementChecks(scenario, ratios),
  ]
  const reached = checks.length === 0 && target.isReached(measured)
  return { measurements: [{ ...measured, target: target.text, reached }], checks }
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

function agreementChecks(scenario: string, ratios: readonly number[]): Check[] {
  const smallest = Math.min(...ratios)
  const largest = Math.max(...ratios)
  if (largest <= MOST_DISAGREEMENT * smallest) return []
  return [
    {
      what: `${scenario}: do the rounds agree`,
      value: `ratios ${smallest.toFixed(2)} to ${largest.toFixed(2)}, not to be quoted`,
      target: `within ${MOST_DISAGREEMENT} ×`,
      reached: false,
    },
  ]
}
