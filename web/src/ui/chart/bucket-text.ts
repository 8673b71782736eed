import { dateFormat } from '../../lib/words.ts'

const DAY = 86_400_000

/** The time of a bucket in words: "15:30–15:45, 21 Nov 2026, CET", and "so far" while it is not over. Times in epoch ms. */
export function bucketText(
  bucket: { start: number; end: number; isPartial: boolean },
  zone: string,
  now = Date.now(),
): string {
  const { start, end, isPartial } = bucket
  const date = dateFormat(zone, { day: 'numeric', month: 'short', year: 'numeric' })
  const [first, last] = [zoneName(start, zone), zoneName(end, zone)]
  const isPartOfDay = end - start < DAY / 2
  const text = isPartOfDay ? `${clockSpan(start, end, zone)}, ${date.format(start)}` : daysText(start, end, date)
  // The last hour before clocks change may end at the time it begins: "02:00–02:00, 25 Oct 2026, CEST–CET".
  const zones = isPartOfDay && first !== last ? `${first}–${last}` : first
  return `${text}, ${zones}${isPartial ? (end > now ? ' · so far' : ' · shown in part') : ''}`
}

/** "15:30–15:45" in a zone. */
export function clockSpan(start: number, end: number, zone: string): string {
  const time = dateFormat(zone, { hour: '2-digit', minute: '2-digit' })
  return end > start ? `${time.format(start)}–${time.format(end)}` : time.format(start)
}

function daysText(start: number, end: number, date: Intl.DateTimeFormat): string {
  const [first, last] = [date.format(start), date.format(end - 1)]
  return first === last ? first : `${first} – ${last}`
}

function zoneName(at: number, zone: string): string {
  const parts = dateFormat(zone, { timeZoneName: 'short' }).formatToParts(at)
  return parts.find(({ type }) => type === 'timeZoneName')?.value ?? zone
}
