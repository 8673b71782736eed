import { Temporal } from 'temporal-polyfill'

/** A part of each local day, `HH:MM`; from 22:00 to 07:00 holds midnight. */
export interface QuietHours {
  from: string
  to: string
}

/**
 * When the quiet hours end that a time is in, epoch ms; null where it is in none. Where clocks change, local times hold: an end that
 * does not exist that day is an hour later, one that comes twice is the first.
 *
 * @param timezone IANA name; UTC for one that is not known here
 */
export function quietUntil({ from, to }: QuietHours, timezone: string, now: number): number | null {
  const local = Temporal.Instant.fromEpochMilliseconds(now).toZonedDateTimeISO(known(timezone))
  const time = local.toPlainTime().toString({ smallestUnit: 'minute' })
  const holdsMidnight = from > to
  const isQuiet = holdsMidnight ? time >= from || time < to : time >= from && time < to
  if (!isQuiet) return null
  const day = holdsMidnight && time >= from ? local.toPlainDate().add({ days: 1 }) : local.toPlainDate()
  const end = day.toZonedDateTime({ timeZone: local.timeZoneId, plainTime: Temporal.PlainTime.from(to) })
  return Math.max(now, end.epochMilliseconds)
}

function known(timezone: string): string {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: timezone }).resolvedOptions().timeZone
  } catch {
    return 'UTC'
  }
}
