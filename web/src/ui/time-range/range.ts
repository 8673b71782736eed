import type { Query } from '../../api/client.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE

/** The ranges that end now, by the name they have in the address. */
export const PRESETS = {
  '1h': { hours: 1, label: 'Last hour' },
  '6h': { hours: 6, label: 'Last 6 hours' },
  '24h': { hours: 24, label: 'Last 24 hours' },
  '7d': { hours: 168, label: 'Last 7 days' },
  '30d': { hours: 720, label: 'Last 30 days' },
} as const
export type Preset = keyof typeof PRESETS

const FALLBACK: Preset = '24h'

/** A preset, which moves with the time, or from one moment to another; without `to` until now. ISO 8601. */
export type TimeRange = { preset: Preset } | { from: string; to?: string }

/** Epoch ms. */
export interface Bounds {
  from: number
  to: number
}

/** What of the address is about the range. */
export type RangeSearch = Record<'range' | 'from' | 'to', string | undefined>

/** The range of an address; the last 24 hours where it names none, or none that there can be. */
export function rangeOf({ range = FALLBACK, from, to }: RangeSearch): TimeRange {
  const [start, end] = [Date.parse(from ?? ''), Date.parse(to ?? '')]
  // As the service takes it, who typed a day.
  if (to === undefined && !Number.isNaN(start)) return { from: new Date(start).toISOString() }
  if (start < end) return fixedRange({ from: start, to: end })
  return { preset: Object.hasOwn(PRESETS, range) ? (range as Preset) : FALLBACK }
}

export const searchOf = (range: TimeRange): RangeSearch =>
  'preset' in range
    ? { range: range.preset === FALLBACK ? undefined : range.preset, from: undefined, to: undefined }
    : { range: undefined, from: range.from, to: range.to }

/** What to pass to the calls of reports. */
export const queryOf = (range: TimeRange): Query =>
  'preset' in range ? { hours: PRESETS[range.preset].hours } : { ...range }

/** @param now epoch ms */
export function boundsOf(range: TimeRange, now: number): Bounds {
  if ('preset' in range) return { from: now - PRESETS[range.preset].hours * HOUR, to: now }
  return { from: Date.parse(range.from), to: range.to === undefined ? now : Date.parse(range.to) }
}

/** From one moment to another, whatever the time is. */
export const fixedRange = ({ from, to }: Bounds): { from: string; to: string } => ({
  from: new Date(from).toISOString(),
  to: new Date(to).toISOString(),
})

/** The range as long as this one, half of that earlier (−1) or later (1), but never past now. */
export function shifted(range: TimeRange, direction: -1 | 1, now: number): TimeRange {
  const { from, to } = boundsOf(range, now)
  const step = Math.min((direction * (to - from)) / 2, Math.max(0, now - to))
  return fixedRange({ from: from + step, to: to + step })
}

/** Whether there is anything later to shift to. */
export const endsNow = (range: TimeRange, now: number): boolean => boundsOf(range, now).to >= now

/** Shorter shows nothing: counts are kept by the minute. */
const LEAST_ZOOM = 2 * MINUTE

/** The whole minutes that a selection touches, within the ends of the chart. Null for one that is no longer than a click. */
export function zoomed(selected: Bounds, chart: Bounds): TimeRange | null {
  const from = Math.floor(Math.max(selected.from, chart.from) / MINUTE) * MINUTE
  const to = Math.ceil(Math.min(selected.to, chart.to) / MINUTE) * MINUTE
  return to - from < LEAST_ZOOM ? null : fixedRange({ from, to })
}

/** @param zone IANA */
export function labelOf(range: TimeRange, zone: string): string {
  if ('preset' in range) return PRESETS[range.preset].label
  const format = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short', timeZone: zone })
  const from = Date.parse(range.from)
  return range.to === undefined ? `Since ${format.format(from)}` : format.formatRange(from, Date.parse(range.to))
}
