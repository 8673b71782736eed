const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** Between a number and its unit, where no line may end. */
const NO_BREAK = '\u00a0'

/** A text of the API with non-breaking spaces before units: "failed: 76 of 130 (58 %), last 15 min". */
export const unbroken = (text: string): string =>
  text.replace(/(?<=\d) (?=(?:%|ms|s|min|h|d|kB|MB)(?![\p{L}\d]))/gu, NO_BREAK)

/** A length of time in its largest unit that gives a number above 1: "42 min", "3 h", "12 d". */
export function duration(ms: number): string {
  if (ms < MINUTE) return `${Math.max(0, Math.round(ms / SECOND))}${NO_BREAK}s`
  if (ms < 2 * HOUR) return `${Math.floor(ms / MINUTE)}${NO_BREAK}min`
  if (ms < 2 * DAY) return `${Math.floor(ms / HOUR)}${NO_BREAK}h`
  return `${Math.floor(ms / DAY)}${NO_BREAK}d`
}

/** How long ago, or how far ahead, seen from `now` (both epoch ms). Less than a minute either way is "just now". */
export function relative(at: number, now: number): string {
  const distance = now - at
  if (Math.abs(distance) < MINUTE) return 'just now'
  return distance > 0 ? `${duration(distance)} ago` : `in ${duration(-distance)}`
}

/** A time to the second in a zone, with the zone's short name: "21 Nov 2026, 09:42:10 CET". */
export function exact(at: number, zone: string | undefined): string {
  const second = { hour: '2-digit', minute: '2-digit', second: '2-digit', timeZoneName: 'short' } as const
  return dateFormat(zone, { day: 'numeric', month: 'short', year: 'numeric', ...second }).format(at)
}

const formats = new Map<string, Intl.DateTimeFormat>()

/** How times are written in a zone, by default the device's. Kept, because making one takes longer than rendering a line of a list. */
export function dateFormat(zone: string | undefined, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const key = JSON.stringify([zone, options])
  const format = formats.get(key) ?? new Intl.DateTimeFormat('en-GB', { ...options, timeZone: zone })
  formats.set(key, format)
  return format
}

/** "14:20" in the device's zone, for what is about the device or the people in front of it. */
export const deviceTime = (at: number): string =>
  dateFormat(undefined, { hour: '2-digit', minute: '2-digit' }).format(at)

const compactFormat = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 })
const wholeFormat = new Intl.NumberFormat('en', { maximumFractionDigits: 0 })

/** A count in few characters: "12.4k", "980". */
export const compact = (count: number): string => compactFormat.format(count).replace('K', 'k')

/** A count in full: "12,408". */
export const whole = (count: number): string => wholeFormat.format(count)

/** A rate of 0–1 in per cent: "31 %", below ten with one decimal: "0.4 %". Only all is 100 %, and only none is 0 %. */
export function percent(rate: number): string {
  const value = rate * 100
  const shown = value > 0 && value < 10 ? Math.max(0.1, value).toFixed(1).replace(/\.0$/, '') : value.toFixed(0)
  return `${shown === '100' && rate < 1 ? Math.min(99.9, value).toFixed(1) : shown}${NO_BREAK}%`
}

/** An actor inside a sentence: without sign-in, the service knows no name. */
export const personName = (actor: string): string => (actor === 'anonymous' ? 'someone' : actor)

/** "1 site", "3 sites". */
export const counted = (count: number, one: string, many = `${one}s`): string =>
  `${whole(count)} ${count === 1 ? one : many}`
