import type { Query } from '../../api/client.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE

/** The ranges that end now, by their name in the page's address. */
export const PRESETS = {
  '1h': { hours: 1, label: 'Last hour' },
  '6h': { hours: 6, label: 'Last 6 hours' },
  '24h': { hours: 24, label: 'Last 24 hours' },
  '7d': { hours: 168, label: 'Last 7 days' },
  '30d': { hours: 720, label: 'Last 30 days' },
} as const
export type Preset = keyof typeof PRESETS

const FALLBACK: Preset = '24h'

/** A preset, which moves with time, or a range between two ISO 8601 times; without `to`, until now. */
export type TimeRange = { preset: Preset } | { from: string; to?: string }

/** Epoch ms. */
export interface Bounds {
  from: number
  to: number
}

/** The search parameters of the range. */
export type RangeSearch = Record<'range' | 'from' | 'to', string | undefined>

/** The range in the page's address; the last 24 hours when it has none or an invalid one. */
export function rangeOf({ range = FALLBACK, from, to }: RangeSearch): TimeRange {
  const [start, end] = [Date.parse(from ?? ''), Date.parse(to ?? '')]
  // A typed day works, too, as the service accepts it.
  if (to === undefined && !Number.isNaN(start)) return { from: new Date(start).toISOString() }
  if (start < end) return fixedRange({ from: start, to: end })
  return { preset: Object.hasOwn(PRESETS, range) ? (range as Preset) : FALLBACK }
}

export const searchOf = (range: TimeRange): RangeSearch =>
  'preset' in range
    ? { range: range.preset === FALLBACK ? undefined : range.preset, from: undefined, to: undefined }
    : { range: undefined, from: range.from, to: range.to }

/** The query parameters for reports. */
export const queryOf = (range: TimeRange): Query =>
  'preset' in range ? { hours: PRESETS[range.preset].hours } : { ...range }

/** @param now epoch ms */
export function boundsOf(range: TimeRange, now: number): Bounds {
  if ('preset' in range) return { from: now - PRESETS[range.preset].hours * HOUR, to: now }
  return { from: Date.parse(range.from), to: range.to === undefined ? now : Date.parse(range.to) }
}

/** A range with fixed times. */
export const fixedRange = ({ from, to }: Bounds): { from: string; to: string } => ({
  from: new Date(from).toISOString(),
  to: new Date(to).toISOString(),
})

/** The range shifted by half its length, earlier (−1) or later (1), but never past now. */
export function shifted(range: TimeRange, direction: -1 | 1, now: number): TimeRange {
  const { from, to } = boundsOf(range, now)
  const step = Math.min((direction * (to - from)) / 2, Math.max(0, now - to))
  return fixedRange({ from: from + step, to: to + step })
}

/** Whether the range ends now, so that it cannot be shifted later. */
export const endsNow = (range: TimeRange, now: number): boolean => boundsOf(range, now).to >= now

/** Minimum length of a zoom: counts are kept by the minute, so less shows nothing. */
const LEAST_ZOOM = 2 * MINUTE

/** The full minutes that a selection touches, within the chart; null when it is too short. */
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
