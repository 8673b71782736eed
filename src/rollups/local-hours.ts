import { Temporal } from 'temporal-polyfill'
import { HOUR, MINUTE } from '../lib/index.ts'

/**
 * Where a UTC hour has to be split so that no hour row spans two local hours, ms after its start; 0 when no split is needed.
 * In zones like Asia/Kolkata (+05:30) local hours, and with them local days, begin in the middle of UTC hours.
 *
 * @param utcHour start of the hour, epoch ms
 */
export function hourSplit(timezone: string, utcHour: number): number {
  if (timezone === 'UTC') return 0
  const { offsetNanoseconds } = Temporal.Instant.fromEpochMilliseconds(utcHour).toZonedDateTimeISO(timezone)
  const past = (offsetNanoseconds / 1e6) % HOUR
  const split = past === 0 ? 0 : past > 0 ? HOUR - past : -past
  // Offsets from before standard time had odd seconds; rows are whole minutes.
  return split - (split % MINUTE)
}
