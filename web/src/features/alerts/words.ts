import type { AlertRecord } from '../../api/alerts.ts'
import type { Status } from '../../api/overview.ts'
import { dateFormat, duration, unbroken } from '../../lib/words.ts'
import { ownZone } from '../../lib/zone.ts'

/** The status mark of an alert. An alert about the check itself says nothing about the target, so it is marked as an error. */
export const markOf = ({ subject, severity }: Pick<AlertRecord, 'subject' | 'severity'>): Status =>
  subject === 'check' ? 'error' : severity

/**
 * Titles are what probes say; one that begins with a common word begins with a capital here, and units stay on the line of their numbers.
 */
export const sentence = (text: string): string =>
  unbroken(/^[a-z]+ /.test(text) ? `${text.charAt(0).toUpperCase()}${text.slice(1)}` : text)

export const RESOLUTION_WORDS: Readonly<Record<NonNullable<AlertRecord['resolution']>, string>> = {
  recovered: 'recovered automatically',
  gone: 'no longer seen',
  manual: 'resolved by hand',
  probe_removed: 'closed, as it is no longer checked',
  replaced: 'replaced by alerts for each tag, event and field',
}

/** "recovered automatically after 12 min" */
export function endWords({ resolution, started_at, resolved_at }: AlertRecord): string {
  const how = resolution === null ? 'resolved' : RESOLUTION_WORDS[resolution]
  return resolved_at === null
    ? how
    : `${how}${resolution === 'gone' ? ',' : ''} after ${duration(Date.parse(resolved_at) - Date.parse(started_at))}`
}

/** A text of the API with its ISO times replaced by clock times: "Silenced until 16:00". */
export const timesIn = (text: string, clock: (moment: number) => string): string =>
  text.replace(/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g, (time) => clock(Date.parse(time)))

/** "14:00", or "Sat 22 Nov, 09:00" on another day than `now`, with the zone when it is not the reader's own. */
export function clockTime(moment: number, zone: string | undefined, now: number): string {
  const day = dateFormat(zone, { weekday: 'short', day: 'numeric', month: 'short' })
  const time = dateFormat(zone, {
    hour: '2-digit',
    minute: '2-digit',
    ...(zone === undefined || zone === ownZone() ? {} : { timeZoneName: 'short' }),
  })
  return day.format(moment) === day.format(now) ? time.format(moment) : `${day.format(moment)}, ${time.format(moment)}`
}
