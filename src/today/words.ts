import { number, percent } from '../lib/index.ts'
import type { Change } from './changes.ts'

/**
 * A change as people read it: `purchase: 640, a week before 1,290 (−50 %, usually ±8 %)`,
 * `Meta CAPI fails: 31 % of 1,284 runs, a week before 0.4 % (usually ±1.2 points)`.
 */
export function changeInWords({ kind, name, now, before, expected, usual }: Change): string {
  if (kind === 'tag_failures') {
    const points = number(100 * usual)
    return `${name} fails: ${percent(shareOf(now))} of ${number(now.runs)} runs, a week before ${percent(shareOf(before))} (usually ±${points} points)`
  }
  const what = kind === 'events' ? 'All events' : kind === 'event' ? name : `${name} runs`
  if (before.runs === 0) return `${what}: ${number(now.runs)}, none a week before`
  const difference = now.runs / before.runs - 1
  const change = `${difference < 0 ? '−' : '+'}${percent(Math.abs(difference))}`
  // What follows the rest of its site is measured against that.
  return `${what}: ${number(now.runs)}, a week before ${number(before.runs)} (${change}, usually ±${percent(usual / Math.max(1, expected))})`
}

/** Batches of a hostile sender may count more failures than runs. */
export const shareOf = ({ runs, bad }: Change['now']): number => (runs === 0 ? 0 : Math.min(1, bad / runs))

/** `web container 41 → 42` */
export const versionInWords = (version: { source: string; from_version: string | null; to_version: string }): string =>
  `${version.source} ${version.from_version === null ? version.to_version : `${version.from_version} → ${version.to_version}`}`
