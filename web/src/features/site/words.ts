import { compact, dateFormat, percent, unbroken } from '../../lib/words.ts'

/** The kind of a number, which decides how its change is worded. */
export type Kind = 'count' | 'rate' | 'points' | 'ms'

const missing = '–'

/** Points of a score, rounded down: 69.8 is below the band that begins at 70. */
const wholePoints = (value: number): number => Math.floor(value + 1e-6)

/** A value in few characters; null is a dash. */
export function figure(value: number | null, kind: Kind): string {
  if (value === null) return missing
  switch (kind) {
    case 'count':
      return compact(value)
    case 'rate':
      return percent(value)
    case 'points':
      return String(wholePoints(value))
    case 'ms':
      return milliseconds(value)
  }
}

/** "1 event", "12.4k events" */
export const roughly = (count: number, one: string, many = `${one}s`): string =>
  `${compact(count)} ${count === 1 ? one : many}`

/** "84 ms", "1.2 s" */
export const milliseconds = (value: number): string =>
  unbroken(value < 1_000 ? `${Math.round(value)} ms` : `${(value / 1_000).toFixed(1).replace(/\.0$/, '')} s`)

/**
 * How a value differs from the previous one: "+12 %" for counts, "was 93" for values with a scale of their own. Undefined when
 * nothing is compared.
 */
export function change(now: number | null, before: number | null | undefined, kind: Kind): string | undefined {
  if (before === null || before === undefined) return undefined
  if (kind !== 'count') return `was ${figure(before, kind)}`
  if (before === 0) return now === 0 || now === null ? 'as before' : 'none before'
  // A few are not −100 %.
  const difference = Math.max(now ? -99 : -100, Math.round(((now ?? 0) / before - 1) * 100))
  if (difference === 0) return 'as before'
  // From here on, a factor says more than a percentage.
  if (difference >= 1_000) return `${Math.round((now ?? 0) / before)} × as many`
  return unbroken(`${difference > 0 ? '+' : '−'}${Math.abs(difference)} %`)
}

/** The words after "per": "15 min", "hour", "6 h", "day" */
export function span(ms: number): string {
  const minutes = ms / 60_000
  if (minutes < 60) return unbroken(`${minutes} min`)
  if (minutes === 60) return 'hour'
  if (minutes < 24 * 60) return unbroken(`${minutes / 60} h`)
  const days = Math.round(minutes / (24 * 60))
  return days === 1 ? 'day' : `${days} days`
}

/** A local time: "09:42", or "20 Nov, 09:42" on another day. */
export function clock(at: number, now: number, zone: string): string {
  const day = dateFormat(zone, { day: 'numeric', month: 'short' })
  const time = dateFormat(zone, { hour: '2-digit', minute: '2-digit' }).format(at)
  return day.format(at) === day.format(now) ? time : `${day.format(at)}, ${time}`
}

/** "transaction_id" as "transaction id". */
export const fieldName = (field: string): string => field.replaceAll('_', ' ')
