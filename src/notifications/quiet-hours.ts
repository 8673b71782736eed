import { Temporal } from 'temporal-polyfill'

/** A part of each local day, `HH:MM`; from 22:00 to 07:00 holds midnight. */
export interface QuietHours {
  from: string
  to: string
}

/**
 * When the quiet hours end that a time is in, epoch ms; null where it is in none. Where clocks change, local times hold: they also end
 * when the clock is set to a time that is in none, and at the first of an end that comes twice.
 *
 * @param timezone IANA name; UTC for one that is not known here
 */
export function quietUntil({ from, to }: QuietHours, timezone: string, now: number): number | null {
  const local = Temporal.Instant.fromEpochMilliseconds(now).toZonedDateTimeISO(known(timezone))
  const time = clockTime(local)
  const holdsMidnight = from > to
  const isQuietAt = (time: string) => (holdsMidnight ? time >= from || time < to : time >= from && time < to)
  if (!isQuietAt(time)) return null
  const day = holdsMidnight && time >= from ? local.toPlainDate().add({ days: 1 }) : local.toPlainDate()
  const end = day.toZonedDateTime({ timeZone: local.timeZoneId, plainTime: Temporal.PlainTime.from(to) })
  const change = local.getTimeZoneTransition('next')
  const ends = change !== null && change.epochMilliseconds < end.epochMilliseconds && !isQuietAt(clockTime(change))
  return Math.max(now, (ends ? change : end).epochMilliseconds)
}

const clockTime = (time: Temporal.ZonedDateTime): string => time.toPlainTime().toString({ smallestUnit: 'minute' })

function known(timezone: string): string {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: timezone }).resolvedOptions().timeZone
  } catch {
    return 'UTC'
  }
}
