import { Temporal } from 'temporal-polyfill'
import type { Span } from './spans.ts'

/** A calendar day of a zone. */
export interface LocalDay extends Span {
  /** `YYYY-MM-DD`. */
  day: string
}

/** The last calendar days of a zone up to the one that holds `now`, oldest first: 23 to 25 hours each. */
export function localDays(timezone: string, now: number, count: number): LocalDay[] {
  const today = Temporal.Instant.fromEpochMilliseconds(now).toZonedDateTimeISO(timezone).toPlainDate()
  const days: LocalDay[] = []
  for (let back = count - 1; back >= 0; back--) {
    const date = today.subtract({ days: back })
    const from = date.toZonedDateTime(timezone).epochMilliseconds
    const to = date.add({ days: 1 }).toZonedDateTime(timezone).epochMilliseconds
    // A day that a zone left out, as Samoa did on its way over the date line, has no time.
    if (from < to) days.push({ day: date.toString(), from, to })
  }
  return days
}
