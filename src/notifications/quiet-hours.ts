import { Temporal } from 'temporal-polyfill'

/** A part of each local day, `HH:MM`; 22:00 to 07:00 spans midnight. */
export interface QuietHours {
  from: string
  to: string
}

/**
 * Returns when the quiet hours end that a time is in, epoch ms, or null outside them. Local time counts when clocks change: they
 * also end when the clock jumps to a time outside them, and at the first occurrence of an end that occurs twice.
 *
 * @param timezone IANA name; UTC for an unknown one
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
