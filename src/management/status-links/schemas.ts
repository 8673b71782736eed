import { type Static, Type } from 'typebox'
import { IsoTime, nullable, Uuid } from '../../http/index.ts'

export const StatusLinkParams = Type.Object({ client_id: Uuid })

export const StatusLinkRecord = Type.Object({
  client_id: Uuid,
  is_active: Type.Boolean({ description: 'Whether there is a link' }),
  token: nullable(
    Type.String({ description: 'Opens the page to anyone who has it; null without a link, and for viewers' }),
  ),
  url: nullable(
    Type.String({ description: 'Address of the page; null without `token`, and where `PUBLIC_URL` is not set' }),
  ),
  created_at: nullable(IsoTime),
  created_by: nullable(Type.String({ description: 'As the audit log names who did it' })),
})
export type StatusLinkRecord = Static<typeof StatusLinkRecord>
