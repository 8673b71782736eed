import { type Static, Type } from 'typebox'
import { EXPECTS, IsoTime, Limit, model, nullable, Uuid } from '../../http/index.ts'
import { isoTime, isoTimeOrNull } from '../../lib/index.ts'
import { Name } from '../../management/index.ts'
import type { MaintenanceRow } from '../../store/index.ts'
import { ScopeFields, ScopeFilter } from '../scope.ts'
import { nextWindow, scheduleOf, windowAt } from './window.ts'

const KINDS = ['once', 'weekly'] as const
type Kind = (typeof KINDS)[number]

/** The title of maintenance that was created without one. */
export const DEFAULT_TITLE = 'Maintenance'

const MINUTES_PER_WEEK = 7 * 24 * 60

const Time = (description: string) => Type.String({ format: 'date-time', description })
const Weekdays = Type.Array(Type.Integer({ minimum: 1, maximum: 7 }), {
  minItems: 1,
  maxItems: 7,
  description: 'Weekly: the days on which it starts, ISO: 1 = Monday to 7 = Sunday',
})
const StartTime = Type.String({
  pattern: '^([01][0-9]|2[0-3]):[0-5][0-9]$',
  [EXPECTS]: 'a time of day like 22:30',
  description: 'Weekly: local time',
})
const Duration = Type.Integer({
  minimum: 1,
  maximum: MINUTES_PER_WEEK,
  description: 'Weekly: elapsed minutes, regardless of clock changes; at most a week',
})
const Timezone = Type.String({
  format: 'time-zone',
  description: "Weekly: IANA name; the site's by default, UTC for a client",
})

const schedule = {
  starts_at: Time('Once'),
  ends_at: Time('Once: after `starts_at`, at most 366 days later'),
  weekdays: Weekdays,
  start: StartTime,
  duration_minutes: Duration,
  timezone: Timezone,
}

const settable = { title: Name, is_active: Type.Boolean({ default: true }), ...schedule }

const Occurrence = Type.Unsafe<{ starts_at: string; ends_at: string } | null>({
  type: ['object', 'null'],
  properties: { starts_at: IsoTime, ends_at: IsoTime },
  required: ['starts_at', 'ends_at'],
  description: 'The occurrence in progress, or else the next one; null when there is none, or while suspended',
})

export const MaintenanceRecord = model('Maintenance', {
  id: Uuid,
  ...ScopeFields,
  title: Name,
  kind: Type.Enum([...KINDS]),
  is_active: Type.Boolean(),
  starts_at: nullable(schedule.starts_at),
  ends_at: nullable(schedule.ends_at),
  weekdays: Type.Unsafe<number[] | null>({ ...Weekdays, type: ['array', 'null'] }),
  start: nullable(StartTime),
  duration_minutes: nullable(Duration),
  timezone: nullable(Timezone),
  next_occurrence: Occurrence,
  is_under_way: Type.Boolean(),
  created_at: IsoTime,
  created_by: Type.String({ description: 'Who created it, as `actor` in the audit log' }),
})
export type MaintenanceRecord = Static<typeof MaintenanceRecord>

export const UpdateMaintenance = Type.Partial(Type.Object(settable), { additionalProperties: false })
export type UpdateMaintenance = Static<typeof UpdateMaintenance>

export const CreateMaintenance = Type.Object(
  {
    ...Type.Partial(Type.Object(ScopeFields)).properties,
    ...UpdateMaintenance.properties,
    title: Type.Optional({ ...Name, default: DEFAULT_TITLE }),
    kind: Type.Enum([...KINDS]),
  },
  { additionalProperties: false },
)
export type CreateMaintenance = Static<typeof CreateMaintenance>

export const MaintenanceParams = Type.Object({ maintenance_id: Uuid })

export const MaintenanceQuery = Type.Object(
  {
    ...ScopeFilter,
    active_only: Type.Optional(
      Type.Boolean({ default: false, description: 'Leaves out suspended entries and those that are over' }),
    ),
    before: Type.Optional(
      Type.String({
        description: 'Only maintenance created before the one with this id, or before this ISO 8601 time',
      }),
    ),
    limit: Type.Optional(Limit),
  },
  { additionalProperties: false },
)
export type MaintenanceQuery = Static<typeof MaintenanceQuery>

/** Returns maintenance as the API shows it at `now`. */
export function maintenanceRecord(row: MaintenanceRow, now: number): MaintenanceRecord {
  const { kind, is_active, starts_at, ends_at, weekdays, created_at, ...others } = row
  const schedule = scheduleOf(row)
  const current = is_active === 1 ? windowAt(schedule, now) : null
  const shown = current ?? (is_active === 1 ? nextWindow(schedule, now) : null)
  return {
    ...others,
    kind: kindOf(kind),
    is_active: is_active === 1,
    starts_at: isoTimeOrNull(starts_at),
    ends_at: isoTimeOrNull(ends_at),
    weekdays: weekdays === null ? null : (JSON.parse(weekdays) as number[]),
    next_occurrence: shown && { starts_at: isoTime(shown.startsAt), ends_at: isoTime(shown.endsAt) },
    is_under_way: current !== null,
    created_at: isoTime(created_at),
  }
}

/**
 * Narrows a stored kind.
 *
 * @throws Error when Tagwarden did not write the row
 */
function kindOf(text: string): Kind {
  const known = KINDS.find((kind) => kind === text)
  if (known === undefined) throw new Error(`the store holds an unknown kind of maintenance: ${text}`)
  return known
}
