import { type Static, Type } from 'typebox'
import { IsoTime, Limit, Uuid } from '../../http/index.ts'

const ChangedFields = Type.Unsafe<Readonly<Record<string, unknown>> | null>({
  type: ['object', 'null'],
  additionalProperties: true,
})

export const AuditRecord = Type.Object({
  id: Type.Integer(),
  at: IsoTime,
  actor: Type.String({ description: 'admin, or anonymous while no key is set up' }),
  action: Type.String({ description: 'Entity and verb, e.g. site.update' }),
  entity: Type.String(),
  entity_id: Uuid,
  before: ChangedFields,
  after: ChangedFields,
})
export type AuditRecord = Static<typeof AuditRecord>

export const AuditQuery = Type.Object(
  {
    entity_id: Type.Optional(Uuid),
    before: Type.Optional(
      Type.String({ description: 'Only entries older than this one (its id) or than this time (ISO)' }),
    ),
    limit: Type.Optional(Limit),
  },
  { additionalProperties: false },
)
export type AuditQuery = Static<typeof AuditQuery>
