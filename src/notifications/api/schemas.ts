import { type Static, Type } from 'typebox'
import { IsoTime, Limit, nullable, Uuid } from '../../http/index.ts'
import { SERVICE_KINDS } from '../services/services.ts'

export const DELIVERY_STATES = ['pending', 'delivered', 'failed', 'cancelled'] as const

const ServiceKind = Type.Enum([...SERVICE_KINDS], {
  description: 'What receives the messages; `webhook` is one that is no known chat service',
})
const ChannelName = Type.String({
  description:
    "`global`, or a client's own: `chat:` or `email:` and the client's id, or `own:`, that id and the channel's",
})
const ErrorText = nullable(Type.String({ description: 'Viewers do not see what a mail server said' }))

export const DeliveryRecord = Type.Object({
  id: Uuid,
  channel: ChannelName,
  service: nullable(ServiceKind),
  client_id: nullable(Uuid),
  alert_id: nullable(Uuid),
  kind: Type.String({
    description:
      '`opened`, `explained`, `escalated`, `widened`, `flapping`, `reminder`, `acknowledged`, `unacknowledged`, `resolved`, ' +
      '`vendor_opened`, `vendor_resolved`, ' +
      '`digest`, `quota`, `own_failure` or `own_recovery`; `passed`: of a warning that was over before its message was due, which is not sent unless it is back soon',
  }),
  title: Type.String({ description: 'What it is about' }),
  state: Type.Enum([...DELIVERY_STATES], {
    description:
      '`pending`: on its way; `delivered`: taken by the other end; `failed`: refused, or given up after 24 hours; ' +
      '`cancelled`: the channel or the client was gone, or another message says it',
  }),
  created_at: IsoTime,
  not_before: {
    ...IsoTime,
    description:
      'Earliest time to send it: a warning waits to see whether it lasts, and in quiet hours for their end; an end waits until it is certain, or for others to go out with',
  },
  group_id: nullable(
    Type.String({ format: 'uuid', description: 'Those that share it went out as one message, under this key' }),
  ),
  attempts: Type.Integer(),
  last_attempt_at: nullable(IsoTime),
  last_error: ErrorText,
  note: nullable(Type.String({ description: 'A remark on a delivery that succeeded' })),
  delivered_at: nullable(IsoTime),
  over_before_due: Type.Boolean({
    description: 'Whether it is about a warning that was over before its message was due: it is not sent',
  }),
})
export type DeliveryRecord = Static<typeof DeliveryRecord>

export const DeliveryParams = Type.Object({ delivery_id: Uuid })

export const DeliveryQuery = Type.Object(
  {
    client_id: Type.Optional(Uuid),
    alert_id: Type.Optional(Uuid),
    state: Type.Optional(Type.Enum([...DELIVERY_STATES])),
    before: Type.Optional(
      Type.String({ description: 'Only messages older than this one (its id) or than this time (ISO)' }),
    ),
    limit: Type.Optional(Limit),
  },
  { additionalProperties: false },
)
export type DeliveryQuery = Static<typeof DeliveryQuery>

export const ChannelRecord = Type.Object({
  channel: ChannelName,
  client_id: nullable(Type.String({ format: 'uuid', description: 'Null: it receives the alerts of every client' })),
  client_name: nullable(Type.String()),
  kind: ServiceKind,
  address: nullable(
    Type.String({ description: 'For a webhook without its path, which is a secret; null for viewers' }),
  ),
  minimum_severity: Type.Enum(['warning', 'critical'], { description: 'Less severe alerts are not sent over it' }),
  state: Type.Enum(['ok', 'failing', 'off'], {
    description:
      '`failing`: tried again later, automatically; `off`: refused permanently, until the address is edited, a message is retried ' +
      'or a test message goes through',
  }),
  last_error: ErrorText,
  last_success_at: nullable(IsoTime),
  failing_since: nullable(IsoTime),
  off_since: nullable(IsoTime),
  next_attempt_at: nullable(Type.String({ format: 'date-time', description: 'While failing' })),
  pending: Type.Integer({ description: 'Messages that wait' }),
})
export type ChannelRecord = Static<typeof ChannelRecord>

export const ChannelList = Type.Object({
  email_enabled: Type.Boolean({ description: 'Whether SMTP_URL is set: without it nothing goes out by e-mail' }),
  channels: Type.Array(ChannelRecord, { description: "The global one first, then clients' own, oldest client first" }),
})
export type ChannelList = Static<typeof ChannelList>

export const TestParams = Type.Object({ client_id: Uuid })

export const TestResult = Type.Object({
  channel: ChannelName,
  kind: ServiceKind,
  delivered: Type.Boolean(),
  error: ErrorText,
  note: nullable(Type.String({ description: 'A remark on a delivery that succeeded' })),
})
export type TestResult = Static<typeof TestResult>
