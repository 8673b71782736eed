import { SLOTS_AN_HOUR } from '../detection/world.ts'
import { quantile } from '../lib/statistics.ts'
import { markdownTable } from '../lib/table.ts'
import type { Estimated } from './losses.ts'

/** By how much estimates are wrong, as a share of what was lost; smallest first. */
export const errorsOf = (estimates: readonly Estimated[]): number[] =>
  estimates.map(({ truth, loss }) => Math.abs(loss.lost / truth - 1)).sort((a, b) => a - b)

/** How the estimates of each kind of fault compare with what was lost. */
export function errorTable(estimates: readonly Estimated[]): string {
  const groups: [string, readonly Estimated[]][] = [
    ['all', estimates],
    ['under 4 h', estimates.filter(({ fault }) => fault.to - fault.from < 4 * SLOTS_AN_HOUR)],
    ...Map.groupBy(estimates, ({ fault, what }) => `${fault.kind.replaceAll('_', ' ')}: ${what}`),
  ]
  return markdownTable(
    ['fault', 'losses', 'median error', 'three of four within', 'in the range', 'median bias'],
    groups.map(([name, of]) => [name, String(of.length), ...figuresOf(of)]),
  )
}

function figuresOf(estimates: readonly Estimated[]): string[] {
  const errors = errorsOf(estimates)
  const biases = estimates.map(({ truth, loss }) => loss.lost / truth - 1).sort((a, b) => a - b)
  const estimated = estimates.filter(({ loss }) => loss.low < loss.high)
  const covered = estimated.filter(({ truth, loss }) => truth >= loss.low && truth <= loss.high).length
  return [
    percent(quantile(errors, 0.5)),
    percent(quantile(errors, 0.75)),
    estimated.length === 0 ? 'counted' : percent(covered / estimated.length),
    percent(quantile(biases, 0.5)),
  ]
}

const percent = (share: number): string => (Number.isNaN(share) ? '–' : `${(100 * share).toFixed(1)} %`)
