import { type Static, Type } from 'typebox'
import { IsoTime, Limit, model, nullable, Uuid } from '../../http/index.ts'
import { isoTime } from '../../lib/index.ts'
import type { SilenceRow } from '../../store/index.ts'
import { ScopeFields, ScopeFilter } from '../scope.ts'

const SILENCE_STATES = ['scheduled', 'active', 'ended'] as const

const SubjectKey = nullable(
  Type.String({
    minLength: 1,
    maxLength: 1_000,
    description: 'With `probe_id`: only its alerts with this `subject_key`, which is one tag, event or field',
  }),
)
const Comment = nullable(Type.String({ maxLength: 500, description: 'Reason for the silence' }))

const IncidentId = nullable(
  Type.String({
    format: 'uuid',
    description: 'All alerts of this incident and of those that it explains, including later ones',
  }),
)

export const SilenceRecord = model('Silence', {
  id: Uuid,
  ...ScopeFields,
  incident_id: IncidentId,
  subject_key: SubjectKey,
  subject_label: nullable(
    Type.String({ description: 'Name of that tag, event or field for people; for an incident, its title at the time' }),
  ),
  starts_at: IsoTime,
  ends_at: IsoTime,
  until_resolved: Type.Boolean({ description: 'Whether it ends earlier, as soon as no alert within it is unresolved' }),
  comment: Comment,
  state: Type.Enum([...SILENCE_STATES]),
  created_at: IsoTime,
  created_by: Type.String({ description: 'Who created it, as `actor` in the audit log' }),
})
export type SilenceRecord = Static<typeof SilenceRecord>

export const CreateSilence = Type.Object(
  {
    ...Type.Partial(Type.Object(ScopeFields)).properties,
    incident_id: Type.Optional(IncidentId),
    starts_at: Type.Optional(Type.String({ format: 'date-time', description: 'Now by default' })),
    subject_key: Type.Optional(SubjectKey),
    ends_at: Type.Optional(
      Type.String({
        format: 'date-time',
        description:
          'After `starts_at`, in the future, and at most 366 days from now; required unless `until_resolved` is true',
      }),
    ),
    until_resolved: Type.Optional(
      Type.Boolean({
        default: false,
        description:
          'Ends as soon as no alert within it is unresolved, at the latest after 366 days; at least one must be unresolved now',
      }),
    ),
    comment: Type.Optional(Comment),
  },
  { additionalProperties: false },
)
export type CreateSilence = Static<typeof CreateSilence>

export const SilenceParams = Type.Object({ silence_id: Uuid })

export const SilenceQuery = Type.Object(
  {
    ...ScopeFilter,
    active_only: Type.Optional(Type.Boolean({ default: false, description: 'Only those in effect now' })),
    before: Type.Optional(
      Type.String({ description: 'Only silences created before the one with this id, or before this ISO 8601 time' }),
    ),
    limit: Type.Optional(Limit),
  },
  { additionalProperties: false },
)
export type SilenceQuery = Static<typeof SilenceQuery>

/** Returns a silence as the API shows it at `now`. */
export const silenceRecord = (row: SilenceRow, now: number): SilenceRecord => ({
  id: row.id,
  client_id: row.client_id,
  site_id: row.site_id,
  probe_id: row.probe_id,
  incident_id: row.incident_id,
  subject_key: row.subject_key,
  subject_label: row.subject_label,
  starts_at: isoTime(row.starts_at),
  ends_at: isoTime(row.ends_at),
  until_resolved: row.until_resolved === 1,
  comment: row.comment,
  state: now < row.starts_at ? 'scheduled' : now < row.ends_at ? 'active' : 'ended',
  created_at: isoTime(row.created_at),
  created_by: row.created_by,
})
