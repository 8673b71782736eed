import type { UptimeAnswer } from '../../api/uptime.ts'
import { duration, unbroken } from '../../lib/words.ts'

type Day = UptimeAnswer['days'][number]
type Slo = Pick<NonNullable<UptimeAnswer['slo']>, 'left' | 'spent_seconds' | 'budget_seconds'>
export type DayStatus = Day['status']

/** The data of a day's bar; durations are known only when signed in. */
export type BarDay = Pick<Day, 'day' | 'status' | 'uptime'> & Partial<Day>

const DAY_WORDS: Readonly<Record<DayStatus, string>> = {
  ok: 'healthy',
  warning: 'with a warning',
  critical: 'with a critical problem',
  maintenance: 'planned maintenance',
  unknown: 'unknown',
}

/** A share of time in per cent, never rounded up to 100 %. A share computed as 1 − 0.195 is a little less than 80.5 %, which is not 80.49 %. */
export function uptimePercent(share: number | null): string {
  if (share === null) return 'unknown'
  const hundredths = share === 1 ? 10_000 : Math.min(9_999, Math.floor(share * 10_000 + 1e-6))
  return unbroken(`${(hundredths / 100).toFixed(2).replace(/\.?0+$/, '')} %`)
}

/** What is left of an error budget. Rounded down, so that only an unspent one is whole; a spent one is "used up", never "0 %". */
export function budgetInWords({ left, spent_seconds: spent, budget_seconds: budget }: Slo): string {
  if (spent >= budget) return 'the error budget is used up'
  return `${uptimePercent(Math.max(0.000_1, left))} of the error budget left`
}

/** The days behind a share: "12 days" or "today" for a site judged for less than all of them. */
export function daysJudged(days: readonly Pick<BarDay, 'uptime'>[]): string {
  const count =
    days.length -
    Math.max(
      0,
      days.findIndex(({ uptime }) => uptime !== null),
    )
  return count === 1 ? 'today' : `${count} days`
}

/** Made once: a bar names 90 days, and a format takes longer to make than to use. */
const dayFormat = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' })

/** "19 Nov" */
const dayName = (day: string): string => dayFormat.format(Date.parse(day))

const PARTS = [
  ['critical_seconds', 'critical'],
  ['warning_seconds', 'warning'],
  ['maintenance_seconds', 'maintenance'],
  ['unknown_seconds', 'unknown'],
] as const

/** What days before the site existed are called: nothing of them is missing. */
const NOT_YET = 'not watched yet'

const isBefore = (day: BarDay, firstDay: string | null): boolean => firstDay !== null && day.day < firstDay

/** "19 Nov: 98.2 % up · critical 26 min · unknown 2 h · 99.1 % of tag runs delivered" */
export function dayInWords(day: BarDay, firstDay: string | null): string {
  if (isBefore(day, firstDay)) return `${dayName(day.day)}: ${NOT_YET}`
  const lengths = PARTS.flatMap(([field, name]) => {
    const seconds = day[field] ?? 0
    return seconds === 0 ? [] : [`${name} ${duration(seconds * 1_000)}`]
  })
  const delivered = day.delivered ?? null
  const head = day.uptime === null ? DAY_WORDS[day.status] : `${uptimePercent(day.uptime)} up`
  return [
    `${dayName(day.day)}: ${head}`,
    ...(lengths.length === 0 && day.uptime !== null && day.status !== 'ok' ? [DAY_WORDS[day.status]] : lengths),
    ...(delivered === null ? [] : [`${uptimePercent(delivered)} of tag runs delivered`]),
  ].join(' · ')
}

/** The bar for screen readers: the number of days by status, and which were bad. */
export function barInWords(days: readonly BarDay[], firstDay: string | null): string {
  const watched = days.filter((day) => !isBefore(day, firstDay))
  const before = days.length - watched.length
  const counts = (['critical', 'warning', 'maintenance', 'ok', 'unknown'] as const).flatMap((status) => {
    const count = watched.filter((day) => day.status === status).length
    return count === 0 ? [] : [`${count} ${DAY_WORDS[status]}`]
  })
  if (before > 0) counts.push(`${before} ${NOT_YET}`)
  const bad = watched.filter(({ status }) => status === 'critical').slice(-5)
  const named = bad.length === 0 ? '' : `; the last critical ones: ${bad.map(({ day }) => dayName(day)).join(', ')}`
  return `The last ${days.length} days: ${counts.join(', ')}${named}`
}
