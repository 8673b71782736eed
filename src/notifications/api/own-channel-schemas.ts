import { type Static, Type } from 'typebox'
import { EXPECTS, IsoTime, model, nullable, Uuid } from '../../http/index.ts'
import { fingerprintOf, isoTime } from '../../lib/index.ts'
import { Name } from '../../management/index.ts'
import type { ClientChannelRow } from '../../store/index.ts'
import { channelKind, KIND_NAMES, kindNameOf } from '../kinds.ts'
import { destinationOf } from '../services/services.ts'

const Kind = Type.Enum([...KIND_NAMES], {
  description: KIND_NAMES.map((name) => `\`${name}\`: ${channelKind(name).addressIs}`).join('; '),
})
const MinimumSeverity = Type.Enum(['warning', 'critical'], {
  default: 'warning',
  description: '`critical`: incidents that are only warnings are not sent over this channel, nor is their end',
})
const WarningsAfter = nullable(
  Type.Integer({
    minimum: 0,
    maximum: 1_440,
    description:
      'Minutes that a warning must last before it is sent over this channel; 0: sent at once; null: NOTIFY_WARNINGS_AFTER_MINUTES. For `chat` and `email` only: other kinds get warnings at once',
  }),
)
const IsActive = Type.Boolean({ default: true, description: 'Nothing is sent over a channel that is switched off' })

const ChannelId = Type.String({
  minLength: 1,
  maxLength: 36,
  description: "A UUID; for the two channels that are fields of the client, the field's name",
})

export const OwnChannelRecord = model('Channel', {
  id: ChannelId,
  field: nullable(
    Type.Enum(['chat_webhook', 'email'], {
      description:
        "The client's field that holds its address, which can be changed here or there; null for other channels",
    }),
  ),
  client_id: Uuid,
  channel: Type.String({ description: 'Key of the channel in deliveries and in the list of channels' }),
  kind: Kind,
  name: Type.String(),
  address: nullable(
    Type.String({ description: 'E-mail addresses, the host of a webhook, or the end of a key; null for viewers' }),
  ),
  endpoint: nullable(
    Type.String({ description: 'Null: the default endpoint, or the kind has none; null for viewers' }),
  ),
  has_secret: Type.Boolean({ description: 'Whether its requests are signed with its own secret' }),
  fingerprint: nullable(
    Type.String({
      description:
        'Fingerprint that changes with address, secret and endpoint, and reveals none of them; null for viewers',
    }),
  ),
  minimum_severity: MinimumSeverity,
  warnings_after_minutes: WarningsAfter,
  is_active: IsActive,
  created_at: IsoTime,
})
export type OwnChannelRecord = Static<typeof OwnChannelRecord>

const address = {
  address: Type.String({ minLength: 1, maxLength: 2_560, description: 'Its meaning depends on the kind' }),
  secret: Type.Optional(
    nullable(
      Type.String({
        minLength: 16,
        maxLength: 200,
        pattern: '^\\S+$',
        [EXPECTS]: 'text without spaces',
        description: 'For `webhook`: signs its requests, instead of WEBHOOK_SECRET',
      }),
    ),
  ),
  endpoint: Type.Optional(
    nullable(
      Type.String({
        format: 'http-url',
        maxLength: 2_048,
        description: 'For `pagerduty` and `opsgenie`: a region or product other than the default',
      }),
    ),
  ),
}
const settable = {
  name: Name,
  minimum_severity: Type.Optional(MinimumSeverity),
  warnings_after_minutes: Type.Optional(WarningsAfter),
  is_active: Type.Optional(IsActive),
}

export const CreateOwnChannel = Type.Object({ kind: Kind, ...settable, ...address }, { additionalProperties: false })
export type CreateOwnChannel = Static<typeof CreateOwnChannel>

export const UpdateOwnChannel = Type.Partial(Type.Object({ ...settable, ...address }), {
  additionalProperties: false,
  description: 'Give `secret` and `endpoint` only together with `address`; for a field of the client, `address` alone',
})
export type UpdateOwnChannel = Static<typeof UpdateOwnChannel>

export const OwnChannelParams = Type.Object({ client_id: Uuid, channel_id: ChannelId })

export function ownChannelRecord(row: ClientChannelRow, seesSecrets: boolean): OwnChannelRecord {
  const kind = kindNameOf(row.kind)
  return {
    id: row.id,
    field: null,
    client_id: row.client_id,
    channel: `own:${row.client_id}:${row.id}`,
    kind,
    name: row.name,
    address: seesSecrets ? channelKind(kind).shown(row.address) : null,
    endpoint: seesSecrets ? (channelKind(kind).endpointOf?.(row.address) ?? null) : null,
    has_secret: channelKind(kind).takes.includes('secret') && destinationOf(row.address).credential !== null,
    fingerprint: seesSecrets ? fingerprintOf(row.id, row.address) : null,
    minimum_severity: row.minimum_severity === 'critical' ? 'critical' : 'warning',
    warnings_after_minutes: row.warnings_after_minutes,
    is_active: row.is_active === 1,
    created_at: isoTime(row.created_at),
  }
}
