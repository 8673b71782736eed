import { median, robustSpread } from '../../../detection/index.ts'
import { number, percent } from '../../../lib/index.ts'
import type { Part } from './part.ts'

/** Rows in the warehouse for one event counted here, by day (`20261119`). */
export type Ratios = Readonly<Record<string, number>>

/** Before two weeks are known, no one can say which ratio is usual: consent, filters and batches set it, site by site. */
const MIN_DAYS = 14
const KEPT_DAYS = 28

/** A day with fewer events has a ratio of chance. */
const MIN_EVENTS = 100

/** However even the days were, a ratio this close to the usual one is fine. */
const LEAST_MARGIN = 0.15
const SPREADS = 3

/** The ratios with that of one more day, the latest four weeks of them. */
export function withRatio(ratios: Ratios, suffix: string, warehouse: number, ours: number): Ratios {
  if (ours < MIN_EVENTS) return ratios
  const days = Object.entries({ ...ratios, [suffix]: warehouse / ours }).sort(([a], [b]) => a.localeCompare(b))
  return Object.fromEntries(days.slice(-KEPT_DAYS))
}

/** @param ratios of all days that are known; that of the day itself does not count as usual */
export function reconcile(suffix: string, warehouse: number, ours: number, ratios: Ratios): Part {
  const others = Object.entries(ratios).flatMap(([day, ratio]) => (day === suffix ? [] : [ratio]))
  const ratio = ours < MIN_EVENTS ? null : warehouse / ours
  const band = others.length < MIN_DAYS ? null : bandOf(others)
  const details = { day: suffix, warehouse, ours, ratio, band, days_known: others.length, days_needed: MIN_DAYS }
  if (ratio === null || band === null || (ratio >= band.low && ratio <= band.high)) {
    return { status: 'ok', message: '', details }
  }
  const message = `The warehouse has ${number(warehouse)} rows of the day for ${number(ours)} events counted here, ${percent(ratio)}, where ${percent(band.low)} to ${percent(band.high)} is usual`
  return { status: 'warning', message, details: { ...details, reason: 'counts_differ' } }
}

function bandOf(ratios: readonly number[]): { low: number; high: number } {
  const middle = median(ratios)
  const margin = Math.max(SPREADS * robustSpread(ratios, middle), LEAST_MARGIN * middle)
  return { low: Math.max(0, middle - margin), high: middle + margin }
}
