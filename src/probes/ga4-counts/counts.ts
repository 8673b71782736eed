import { DAY, HOUR } from '../../lib/index.ts'
import type { ReferenceCount } from '../../reconciliation/index.ts'
import { type Asked, dateHourOf } from './hours.ts'
import { areInexact, type Ga4Report } from './report.ts'
import type { NamedEvent } from './settings.ts'

/** What GA4 counted of one event. */
export interface EventCounts extends NamedEvent {
  /** In the hours that can be compared. */
  total: number
  /** That can be written. */
  hours: number
  /** GA4 has shown it now, or before: only then is an hour without it 0. */
  isKnown: boolean
}

export interface SettledCounts {
  counts: ReferenceCount[]
  events: EventCounts[]
  /** Settled hours that the property's zone has no such hour for. */
  leftOut: number
  /** Start of the newest hour that can be written, epoch ms; null where there is none. */
  newest: number | null
}

/**
 * What is settled of a report, by the UTC hour.
 *
 * GA4 has no rows of 0. That there is no row means 0 where it is sure that GA4 knows the event, shows all rows and has come so far: a later
 * hour has rows, or the hour is a day older than it has to be. Anything else is not known, and an hour without a count is in no comparison.
 *
 * @param known GA4's names of events that it has shown before
 */
export function settledCounts(
  report: Ga4Report,
  { from, until }: Pick<Asked, 'from' | 'until'>,
  { source, events, known }: { source: string; events: readonly NamedEvent[]; known: readonly string[] },
): SettledCounts {
  const { timezone, caveats, newest } = report
  const hours: { hour: number; key: string }[] = []
  let leftOut = 0
  for (let hour = from; hour < until; hour += HOUR) {
    const key = dateHourOf(timezone, hour)
    if (key === null) leftOut++
    else hours.push({ hour, key })
  }
  const hasAllRows = !caveats.isThresholded && !areInexact(caveats)
  const isReached = (hour: number, key: string) => (newest !== null && key < newest) || hour + HOUR <= until - DAY
  const perEvent = events.map((event) => {
    const rows = report.counts.get(event.ga4)
    const isKnown = rows !== undefined || known.includes(event.ga4)
    const counts = hours.flatMap(({ hour, key }): ReferenceCount[] => {
      const count = rows?.get(key) ?? (isKnown && hasAllRows && isReached(hour, key) ? 0 : null)
      return count === null ? [] : [{ source, event: event.name, hour, count }]
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
