import { type Static, Type } from 'typebox'
import { IsoTime, Limit, nullable, Uuid } from '../../http/index.ts'
import { ScopeFields, ScopeFilter } from '../scope.ts'

export const SILENCE_STATES = ['scheduled', 'active', 'ended'] as const

const Comment = nullable(Type.String({ maxLength: 500, description: 'Why it is silent' }))

export const SilenceRecord = Type.Object({
  id: Uuid,
  ...ScopeFields,
  starts_at: IsoTime,
  ends_at: IsoTime,
  comment: Comment,
  state: Type.Enum([...SILENCE_STATES]),
  created_at: IsoTime,
  created_by: Type.String({ description: 'admin, or anonymous while no key is set up' }),
})
export type SilenceRecord = Static<typeof SilenceRecord>

export const CreateSilence = Type.Object(
  {
    ...Type.Partial(Type.Object(ScopeFields)).properties,
    starts_at: Type.Optional(Type.String({ format: 'date-time', description: 'Now by default' })),
    ends_at: Type.String({
      format: 'date-time',
      description: 'After `starts_at`, in the future, and at most 366 days from now',
    }),
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
      Type.String({ description: 'Only silences created before this one (its id) or this time (ISO)' }),
    ),
    limit: Type.Optional(Limit),
  },
  { additionalProperties: false },
)
export type SilenceQuery = Static<typeof SilenceQuery>
