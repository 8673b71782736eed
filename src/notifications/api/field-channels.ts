import { invalidRequest, notFound } from '../../lib/index.ts'
import { type Context, type UpdateClient, updateClient } from '../../management/index.ts'
import type { ClientRow, Store } from '../../store/index.ts'
import { type ChannelKey, kindOf, ownKey } from '../channel.ts'
import { channelKind, type KindName } from '../kinds.ts'
import { isChat } from '../services/services.ts'
import { type OwnChannelRecord, ownChannelRecord, type UpdateOwnChannel } from './own-channel-schemas.ts'

/**
 * The two channels that are fields of the client. Their addresses are stored in these fields only, so that a change on either route
 * shows on the other. They are always active and take all messages.
 */
const FIELDS = { chat_webhook: 'Chat webhook', email: 'E-mail' } as const
type Field = keyof typeof FIELDS
const FIELD_NAMES = Object.keys(FIELDS) as Field[]

export const fieldOf = (channelId: string): Field | undefined => FIELD_NAMES.find((field) => field === channelId)

/** Returns the key by which messages name a client's channel. */
export function keyOfChannel(clientId: string, channelId: string): ChannelKey {
  const field = fieldOf(channelId)
  if (field === undefined) return ownKey(clientId, channelId)
  return field === 'email' ? `email:${clientId}` : `chat:${clientId}`
}

export const fieldChannels = (client: ClientRow, seesSecrets: boolean): OwnChannelRecord[] =>
  FIELD_NAMES.flatMap((field) => {
    const address = client[field]
    return address === null ? [] : recordOf(client, field, address, seesSecrets)
  })

/** Settings that a channel that is a field has fixed. */
const AS_A_FIELD = { minimum_severity: 'warning', warnings_after_minutes: null, is_active: 1 }

function recordOf(client: ClientRow, field: Field, address: string, seesSecrets: boolean): OwnChannelRecord {
  const { id: client_id, created_at } = client
  const row = { id: field, client_id, kind: kindIn(client, field, address), name: FIELDS[field], address }
  const record = ownChannelRecord({ ...row, ...AS_A_FIELD, created_at }, seesSecrets)
  return { ...record, channel: keyOfChannel(client_id, field), field }
}

/** Returns the kind by the address, because the field takes webhooks of any kind. */
function kindIn({ id }: ClientRow, field: Field, address: string): KindName {
  if (field === 'email') return 'email'
  return isChat(kindOf(`chat:${id}`, address)) ? 'chat' : 'webhook'
}

/**
 * Changes the address of a channel that is a field.
 *
 * @throws AppError `not_found`, or `invalid_request` for other fields and for a bad address
 */
export async function updateFieldChannel(
  ctx: Context,
  clientId: string,
  field: Field,
  { address, ...others }: UpdateOwnChannel,
): Promise<OwnChannelRecord> {
  const before = await fieldChannel(ctx.store, clientId, field)
  const fixed: Readonly<Record<string, unknown>> = { ...before, secret: null, endpoint: null }
  const changed = Object.entries(others).find(([name, value]) => value !== fixed[name])
  if (changed !== undefined) {
    throw invalidRequest(`/${changed[0]}`, `is fixed for the client's ${field}: add a channel for another one`)
  }
  if (address === undefined) return before
  const given = { address: address.trim(), secret: null, endpoint: null }
  const checked = channelKind(field === 'email' ? 'email' : 'chat').addressOf(given)
  const { row: client } = await updateClient(ctx, clientId, patchOf(field, checked), false)
  return recordOf(client, field, checked, true)
}

/**
 * Clears the field of a channel that is one.
 *
 * @throws AppError `not_found`
 */
export async function deleteFieldChannel(ctx: Context, clientId: string, field: Field): Promise<void> {
  await fieldChannel(ctx.store, clientId, field)
  await updateClient(ctx, clientId, patchOf(field, null), false)
}

const patchOf = (field: Field, address: string | null): UpdateClient =>
  field === 'email' ? { email: address } : { chat_webhook: address }

async function fieldChannel({ read }: Pick<Store, 'read'>, clientId: string, field: Field): Promise<OwnChannelRecord> {
  const client = await read.selectFrom('clients').selectAll().where('id', '=', clientId).executeTakeFirst()
  const found = client === undefined ? undefined : fieldChannels(client, true).find(({ id }) => id === field)
  if (found === undefined) throw notFound('Channel')
  return found
}
