import { dateFormat } from './words.ts'

/**
 * The local time in a zone, as `YYYY-MM-DDTHH:MM` (the value of a `datetime-local` field).
 *
 * @param at epoch ms
 */
export function wallTime(at: number, zone: string): string {
  return new Date(at + offset(at, zone)).toISOString().slice(0, 16)
}

/**
 * The moment of a local time in a zone, epoch ms; null when `wall` is not a time. An hour that does not exist (clocks go forward) counts
 * as the hour after; of one that comes twice, the first counts.
 */
export function momentOf(wall: string, zone: string): number | null {
  const asUtc = Date.parse(`${wall}Z`)
  if (Number.isNaN(asUtc)) return null
  const before = asUtc - offset(asUtc - DAY, zone)
  const after = asUtc - offset(asUtc + DAY, zone)
  const right = [before, after].filter((moment) => moment + offset(moment, zone) === asUtc)
  return right.length === 0 ? before : Math.min(...right)
}

const DAY = 86_400_000

/** A zone's offset from UTC at a moment, ms. */
function offset(at: number, zone: string): number {
  const parts = dateFormat(zone, WALL).formatToParts(at)
  const {
    year = 0,
    month = 1,
    day = 1,
    hour = 0,
    minute = 0,
    second = 0,
  } = Object.fromEntries(parts.map(({ type, value }) => [type, Number(value)]))
  return Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(at / 1_000) * 1_000
}

const WALL: Intl.DateTimeFormatOptions = {
  hourCycle: 'h23',
  year: 'numeric',
  month: 'numeric',
  day: 'numeric',
  hour: 'numeric',
  minute: 'numeric',
  second: 'numeric',
}

export const ownZone = (): string => dateFormat(undefined, {}).resolvedOptions().timeZone
