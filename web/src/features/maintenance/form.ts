import type { CreateMaintenance, MaintenanceRecord, UpdateMaintenance } from '../../api/maintenance.ts'
import { changedSince } from '../../lib/changed.ts'
import { momentOf, wallTime } from '../../lib/zone.ts'
import type { Scope } from '../../ui/mute/mutes.ts'
import type { Schedule } from './schedule.ts'

/** The values of the form; times are local to its zone. */
export interface FormValues {
  title: string
  scope: Scope
  kind: 'once' | 'weekly'
  starts_at: string
  ends_at: string
  /** "1" is Monday; texts, because chips have text values. */
  weekdays: string[]
  start: string
  duration_minutes: number
  timezone: string
}

const HOUR = 3_600_000

/** Initial values for new maintenance: the next full hour, or Sunday night when weekly. */
export function blankValues(scope: Scope, zone: string, now: number): FormValues {
  const start = Math.ceil(now / HOUR) * HOUR
  return {
    title: '',
    scope,
    kind: 'once',
    starts_at: wallTime(start, zone),
    ends_at: wallTime(start + HOUR, zone),
    weekdays: ['7'],
    start: '02:00',
    duration_minutes: 120,
    timezone: zone,
  }
}

/** @param zone of the times of one-time maintenance */
export function valuesOf(record: MaintenanceRecord, zone: string, now: number): FormValues {
  const { client_id, site_id, probe_id, starts_at, ends_at, weekdays, start, duration_minutes, timezone } = record
  const blank = blankValues({ client_id, site_id, probe_id }, zone, now)
  return {
    ...blank,
    title: record.title,
    kind: record.kind,
    starts_at: starts_at === null ? blank.starts_at : wallTime(Date.parse(starts_at), zone),
    ends_at: ends_at === null ? blank.ends_at : wallTime(Date.parse(ends_at), zone),
    weekdays: weekdays?.map(String) ?? blank.weekdays,
    start: start ?? blank.start,
    duration_minutes: duration_minutes ?? blank.duration_minutes,
    timezone: timezone ?? zone,
  }
}

/** The schedule in the form of the API. Invalid times are sent as typed, so that the service says what is wrong. */
function scheduleIn(values: FormValues, zone: string): UpdateMaintenance {
  if (values.kind === 'once') {
    const iso = (wall: string) => {
      const at = momentOf(wall, zone)
      return at === null ? wall : new Date(at).toISOString()
    }
    return { starts_at: iso(values.starts_at), ends_at: iso(values.ends_at) }
  }
  const { start, duration_minutes, timezone } = values
  return { weekdays: values.weekdays.map(Number), start, duration_minutes, timezone }
}

export const creation = (values: FormValues, zone: string): CreateMaintenance => ({
  title: values.title,
  kind: values.kind,
  ...values.scope,
  ...scheduleIn(values, zone),
})

/**
 * The fields changed in the form since it was opened. Other fields are not sent, so that someone else's changes stay.
 *
 * @param opened the values when the form was opened; updated with conflicts already reported
 * @param now the values that the form would be opened with now
 * @throws ApiError for fields that someone else has changed, too
 */
export function changes(values: FormValues, opened: FormValues, now: FormValues, zone: string): UpdateMaintenance {
  const mine = changedSince(values, opened, now)
  const body = { title: values.title, ...scheduleIn(values, zone) }
  return Object.fromEntries(Object.entries(body).filter(([name]) => name in mine))
}

/** The schedule of unsaved input, for the preview. */
export function scheduleOf(values: FormValues, zone: string): Schedule {
  const none = { starts_at: null, ends_at: null, weekdays: null, start: null, duration_minutes: null, timezone: null }
  return { ...none, kind: values.kind, ...scheduleIn(values, zone) }
}
