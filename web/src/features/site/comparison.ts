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
export function weekBefore({ from, to }: Window, zone: string): Window {
  return fixedRange({ from: aWeekBefore(Date.parse(from), zone), to: aWeekBefore(Date.parse(to), zone) })
}

const MINUTE = 60_000
const WEEK = 7 * 24 * 60 * MINUTE
/** By how much a window that ends now moves on until its report is here, ms. */
const MOVES_MS = 5 * MINUTE

interface Window {
  from: string
  to: string
}

/** Whether a report is about a window, or about the same a moment ago. Another one's figures would be compared with what they are not. */
export const isAbout = (report: Window, window: Window): boolean =>
  (['from', 'to'] as const).every((end) => Math.abs(Date.parse(report[end]) - Date.parse(window[end])) <= MOVES_MS)

function aWeekBefore(at: number, zone: string): number {
  const wall = new Date(Date.parse(`${wallTime(at, zone)}Z`) - WEEK).toISOString().slice(0, 16)
  return momentOf(wall, zone) ?? at - WEEK
}
