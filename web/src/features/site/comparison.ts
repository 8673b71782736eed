import { momentOf, wallTime } from '../../lib/zone.ts'
import { fixedRange } from '../../ui/time-range/range.ts'

/** What a window is compared with: the same length of time just before it, or the same time a week ago. */
export const COMPARISONS = ['previous', 'week'] as const
export type Comparison = (typeof COMPARISONS)[number]

/** Names of what is compared with, on charts and in sentences. */
export const COMPARED_WITH: Readonly<Record<Comparison, string>> = {
  previous: 'period before',
  week: 'a week ago',
}

/** The same local times seven days earlier. */
export function weekBefore({ from, to }: { from: string; to: string }, zone: string): { from: string; to: string } {
  return fixedRange({ from: aWeekBefore(Date.parse(from), zone), to: aWeekBefore(Date.parse(to), zone) })
}

const WEEK = 7 * 86_400_000

function aWeekBefore(at: number, zone: string): number {
  const wall = new Date(Date.parse(`${wallTime(at, zone)}Z`) - WEEK).toISOString().slice(0, 16)
  return momentOf(wall, zone) ?? at - WEEK
}
