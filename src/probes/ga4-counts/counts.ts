import { DAY, HOUR } from '../../lib/index.ts'
import type { ReferenceCount } from '../../reconciliation/index.ts'
import { type Asked, dateHourOf, dateHoursAround } from './hours.ts'
import { areInexact, type Ga4Report } from './report.ts'
import type { NamedEvent } from './settings.ts'

/** GA4's count of one event. */
export interface EventCounts extends NamedEvent {
  /** In the hours that can be compared. */
  total: number
  /** Number of hours that can be written. */
  hours: number
  /** GA4 has reported it, now or before. Only then does an hour without it mean 0. */
  isKnown: boolean
}

export interface SettledCounts {
  counts: ReferenceCount[]
  events: EventCounts[]
  /** Settled hours that do not exist in the property's time zone. */
  leftOut: number
  /** Start of the newest hour that can be written, epoch ms; null when there is none. */
  newest: number | null
}

/** One or two reports, each with a part of every hour. */
export interface Reports {
  readonly parts: readonly Ga4Report[]
  /** Returns the hour of each report that a UTC hour is in; null when it does not exist in the property's time zone. */
  readonly keysOf: (hour: number) => readonly string[] | null
}

/** For properties whose hours are UTC hours. */
export const ofWholeHours = (report: Ga4Report): Reports => ({
  parts: [report],
  keysOf: (hour) => {
    const key = dateHourOf(report.timezone, hour)
    return key === null ? null : [key]
  },
})

/**
 * For time zones shifted by part of an hour: a UTC hour is the end of one of their hours and the beginning of the next.
 *
 * @param ends report of each hour from `minute` on
 * @param beginnings report of each hour up to `minute`
 */
export const ofPartsOfHours = (ends: Ga4Report, beginnings: Ga4Report, minute: number): Reports => ({
  parts: [ends, beginnings],
  keysOf: (hour) => dateHoursAround(ends.timezone, hour, minute),
})

/**
 * Returns the settled counts of one or several reports, by UTC hour.
 *
 * GA4 has no rows with 0. A missing row means 0 only when GA4 knows the event, shows all rows, and has processed that hour: a later hour has rows,
 * or the hour is a day older than `settled_after_hours` requires. Otherwise the count is unknown, and the hour takes part in no comparison.
 *
 * @param known GA4's names of events that it has reported before
 */
export function settledCounts(
  { parts, keysOf }: Reports,
  { from, until }: Pick<Asked, 'from' | 'until'>,
  { source, events, known }: { source: string; events: readonly NamedEvent[]; known: readonly string[] },
): SettledCounts {
  const hours: { hour: number; keys: readonly string[] }[] = []
  let leftOut = 0
  for (let hour = from; hour < until; hour += HOUR) {
    const keys = keysOf(hour)
    if (keys === null) leftOut++
    else hours.push({ hour, keys })
  }
  const isReached = (newest: string | null, hour: number, key: string) =>
    (newest !== null && key < newest) || hour + HOUR <= until - DAY
  const perEvent = events.map((event) => {
    const isKnown = parts.some(({ counts }) => counts.has(event.ga4)) || known.includes(event.ga4)
    const countOf = (report: Ga4Report, hour: number, key: string): number | null => {
      const hasAllRows = !report.caveats.isThresholded && !areInexact(report.caveats)
      const isZero = isKnown && hasAllRows && isReached(report.newest, hour, key)
      return report.counts.get(event.ga4)?.get(key) ?? (isZero ? 0 : null)
    }
    const counts = hours.flatMap(({ hour, keys }): ReferenceCount[] => {
      const ofParts = parts.map((part, index) => countOf(part, hour, keys[index] ?? ''))
      if (ofParts.some((count) => count === null)) return []
      return [{ source, event: event.name, hour, count: ofParts.reduce<number>((sum, count) => sum + (count ?? 0), 0) }]
    })
    return { event, isKnown, counts }
  })
  const counts = perEvent.flatMap((one) => one.counts)
  return {
    counts,
    events: perEvent.map(({ event, isKnown, counts: own }) => ({
      ...event,
      isKnown,
      total: own.reduce((sum, { count }) => sum + count, 0),
      hours: own.length,
    })),
    leftOut,
    newest: counts.reduce<number | null>((last, { hour }) => (last === null || hour > last ? hour : last), null),
  }
}
