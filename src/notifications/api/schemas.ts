import { type Static, Type } from 'typebox'
import { IsoTime, Limit, model, nullable, Uuid } from '../../http/index.ts'
import { SERVICE_KINDS } from '../services/services.ts'

export const DELIVERY_STATES = ['pending', 'delivered', 'failed', 'cancelled'] as const

const ServiceKind = Type.Enum([...SERVICE_KINDS], {
  description: 'The service that receives the messages; `webhook` is any that is not a known chat service',
})
const ChannelName = Type.String({
  description:
    "`global`, or for a client's own channel `chat:` or `email:` and the client's id, or `own:`, the client's id and the channel's id",
})
const ErrorText = nullable(Type.String({ description: 'Hidden from viewers if it comes from a mail server' }))

export const DeliveryRecord = model('Delivery', {
  id: Uuid,
  channel: ChannelName,
  service: nullable(ServiceKind),
  client_id: nullable(Uuid),
  alert_id: nullable(Uuid),
  kind: Type.String({
    description:
      '`opened`, `explained`, `escalated`, `widened`, `flapping`, `reminder`, `acknowledged`, `unacknowledged`, `resolved`, ' +
      '`vendor_opened`, `vendor_resolved`, ' +
      '`digest`, `quota`, `own_failure` or `own_recovery`; `passed`: for a warning that was over before its message was due, which is not sent unless the warning soon returns',
  }),
  title: Type.String({ description: 'What the message is about' }),
  state: Type.Enum([...DELIVERY_STATES], {
    description:
      '`pending`: on its way; `delivered`: accepted by the receiver; `failed`: refused, or given up after 24 hours; ' +
      '`cancelled`: the channel or the client was gone, or another message covers it',
  }),
  created_at: IsoTime,
  not_before: {
    ...IsoTime,
    description:
      'Earliest time to send it: a warning waits to see whether it lasts, and for quiet hours to end; the end of an alert waits until it is certain, or for others to be combined with',
  },
  group_id: nullable(
    Type.String({ format: 'uuid', description: 'Deliveries with the same key were sent as one message' }),
  ),
  attempts: Type.Integer(),
  last_attempt_at: nullable(IsoTime),
  last_error: ErrorText,
  note: nullable(Type.String({ description: 'A remark on a delivery that succeeded' })),
  delivered_at: nullable(IsoTime),
  over_before_due: Type.Boolean({
    description: 'Whether it is about a warning that was over before its message was due, so it is not sent',
  }),
})
export type DeliveryRecord = Static<typeof DeliveryRecord>

export const DeliveryParams = Type.Object({ delivery_id: Uuid })

export const DeliveryQuery = Type.Object(
  {
    client_id: Type.Optional(Type.String({ ...Uuid, description: 'Only messages about this client' })),
    alert_id: Type.Optional(Type.String({ ...Uuid, description: 'Only messages about this alert' })),
    state: Type.Optional(Type.Enum([...DELIVERY_STATES], { description: 'Only messages in this state' })),
    before: Type.Optional(
      Type.String({ description: 'Only messages older than the one with this id, or than this ISO 8601 time' }),
    ),
    limit: Type.Optional(Limit),
  },
  { additionalProperties: false },
)
export type DeliveryQuery = Static<typeof DeliveryQuery>

export const ChannelRecord = model('ChannelState', {
  channel: ChannelName,
  client_id: nullable(
    Type.String({ format: 'uuid', description: 'Null: the channel receives the alerts of every client' }),
  ),
  client_name: nullable(Type.String()),
  kind: ServiceKind,
  address: nullable(
    Type.String({ description: 'The address; for a webhook without its path, which is secret; null for viewers' }),
  ),
  minimum_severity: Type.Enum(['warning', 'critical'], { description: 'Less severe alerts are not sent over it' }),
  state: Type.Enum(['ok', 'failing', 'off'], {
    description:
      '`failing`: retried automatically; `off`: refused permanently, until the address is edited, a message is retried ' +
      'or a test message goes through',
  }),
  last_error: ErrorText,
  last_success_at: nullable(IsoTime),
  failing_since: nullable(IsoTime),
  off_since: nullable(IsoTime),
  next_attempt_at: nullable(Type.String({ format: 'date-time', description: 'While failing' })),
  pending: Type.Integer({ description: 'Number of waiting messages' }),
})
export type ChannelRecord = Static<typeof ChannelRecord>

export const ChannelList = model('ChannelList', {
  email_enabled: Type.Boolean({ description: 'Whether SMTP_URL is set: without it no e-mail is sent' }),
  channels: Type.Array(ChannelRecord, {
    description: 'The global channel first, then those of clients, oldest client first',
  }),
})
export type ChannelList = Static<typeof ChannelList>

export const TestParams = Type.Object({ client_id: Uuid })

export const TestResult = model('TestResult', {
  channel: ChannelName,
  kind: ServiceKind,
  delivered: Type.Boolean(),
  error: ErrorText,
  note: nullable(Type.String({ description: 'A remark on a delivery that succeeded' })),
})
export type TestResult = Static<typeof TestResult>
