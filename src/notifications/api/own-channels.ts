import { AppError, invalidRequest, newOrderedId, notFound } from '../../lib/index.ts'
import { type Context, lockClient, requireNewName, writeAudit } from '../../management/index.ts'
import type { ClientChannelRow, Store, Tables, Transaction } from '../../store/index.ts'
import { ownKey } from '../channel.ts'
import { closeChannel, leaveAddress, takeOverEnds } from '../farewell.ts'
import { channelKind, type KindName, kindNameOf } from '../kinds.ts'
import { fieldChannels } from './field-channels.ts'
import {
  type CreateOwnChannel,
  type OwnChannelRecord,
  ownChannelRecord,
  type UpdateOwnChannel,
} from './own-channel-schemas.ts'

/** Channels of a client: with more, old ones have piled up. */
export const MOST_CHANNELS = 20

/**
 * Returns all channels of a client, those that are its fields first.
 *
 * @throws AppError `not_found`
 */
export async function listOwnChannels(
  { read }: Pick<Store, 'read'>,
  clientId: string,
  seesSecrets: boolean,
): Promise<OwnChannelRecord[]> {
  const client = await read.selectFrom('clients').selectAll().where('id', '=', clientId).executeTakeFirst()
  if (client === undefined) throw notFound('Client')
  const own = read.selectFrom('client_channels').selectAll().where('client_id', '=', clientId).orderBy('id')
  const rows = await own.execute()
  return [...fieldChannels(client, seesSecrets), ...rows.map((row) => ownChannelRecord(row, seesSecrets))]
}

/**
 * Adds a channel to a client.
 *
 * @throws AppError `not_found`, `invalid_request`, or `conflict` when the client has too many, or one of the name and only a new one is wanted
 */
export async function createOwnChannel(
  ctx: Context,
  clientId: string,
  input: CreateOwnChannel,
): Promise<ClientChannelRow> {
  const { kind, name, minimum_severity = 'warning', warnings_after_minutes = null, is_active = true } = input
  checkWait(kind, warnings_after_minutes)
  const now = ctx.clock.now()
  const row: ClientChannelRow = {
    id: newOrderedId(now),
    client_id: clientId,
    kind,
    name: name.trim(),
    address: addressIn(kind, input),
    minimum_severity,
    warnings_after_minutes,
    is_active: is_active ? 1 : 0,
    created_at: now,
  }
  await ctx.store.write.transaction().execute(async (trx) => {
    if ((await lockClient(trx, clientId)) === undefined) throw notFound('Client')
    const ofClient = trx.selectFrom('client_channels').select('id').where('client_id', '=', clientId)
    await requireNewName(ctx, ofClient.where('name', '=', row.name))
    const there = await ofClient.execute()
    if (there.length >= MOST_CHANNELS) {
      throw new AppError('conflict', `The client has ${MOST_CHANNELS} channels: delete one`)
    }
    await trx.insertInto('client_channels').values(row).execute()
    await takeOverEnds(trx, ownKey(clientId, row.id), row.address)
    await audit(trx, ctx, 'create', null, row)
  })
  return row
}

/**
 * Changes a client's channel.
 *
 * @throws AppError `not_found` or `invalid_request`
 */
export async function updateOwnChannel(
  ctx: Context,
  clientId: string,
  id: string,
  patch: UpdateOwnChannel,
): Promise<ClientChannelRow> {
  return ctx.store.write.transaction().execute(async (trx) => {
    const before = await lockedChannel(trx, clientId, id)
    const { name, minimum_severity, warnings_after_minutes, is_active, address, secret, endpoint } = patch
    checkWait(kindNameOf(before.kind), warnings_after_minutes ?? null)
    if (address === undefined && (secret !== undefined || endpoint !== undefined)) {
      throw invalidRequest(secret === undefined ? '/endpoint' : '/secret', 'can be changed only together with address')
    }
    const after: ClientChannelRow = {
      ...before,
      ...(name === undefined ? {} : { name: name.trim() }),
      ...(minimum_severity === undefined ? {} : { minimum_severity }),
      ...(warnings_after_minutes === undefined ? {} : { warnings_after_minutes }),
      ...(is_active === undefined ? {} : { is_active: is_active ? 1 : 0 }),
      ...(address === undefined ? {} : { address: addressIn(kindNameOf(before.kind), { address, secret, endpoint }) }),
    }
    if (Object.entries(after).every(([field, value]) => before[field as keyof ClientChannelRow] === value))
      return before
    const { id: _id, client_id: _client, kind: _kind, created_at: _created, ...changed } = after
    await trx.updateTable('client_channels').set(changed).where('id', '=', id).execute()
    const key = ownKey(clientId, id)
    if (after.address !== before.address) {
      await leaveAddress(trx, key, after.address, ctx.clock.now())
      await takeOverEnds(trx, key, after.address)
    } else if (after.is_active < before.is_active) await closeChannel(trx, key, 'channel_off', ctx.clock.now())
    await audit(trx, ctx, 'update', before, after)
    return after
  })
}

/**
 * Deletes a client's channel. Its pending messages, except ends, are cancelled when their turn comes.
 *
 * @throws AppError `not_found`
 */
export async function deleteOwnChannel(ctx: Context, clientId: string, id: string): Promise<void> {
  await ctx.store.write.transaction().execute(async (trx) => {
    const before = await lockedChannel(trx, clientId, id)
    await trx.deleteFrom('client_channels').where('id', '=', id).execute()
    await closeChannel(trx, ownKey(clientId, id), 'channel_deleted', ctx.clock.now())
    await audit(trx, ctx, 'delete', before, null)
  })
}

/**
 * Checks that warnings may wait on the kind: a program that gets them decides for itself.
 *
 * @throws AppError `invalid_request`
 */
export function checkWait(kind: KindName, minutes: number | null): void {
  if (minutes !== null && !channelKind(kind).takes.includes('wait')) {
    throw invalidRequest('/warnings_after_minutes', `is not for ${kind}, which gets warnings at once`)
  }
}

/**
 * Returns the address to store.
 *
 * @throws AppError `invalid_request` for fields that the kind does not take
 */
export function addressIn(
  kind: KindName,
  {
    address,
    secret = null,
    endpoint = null,
  }: { address: string; secret?: string | null | undefined; endpoint?: string | null | undefined },
): string {
  const { takes, addressOf } = channelKind(kind)
  if (secret !== null && !takes.includes('secret')) throw invalidRequest('/secret', `is not for ${kind}`)
  if (endpoint !== null && !takes.includes('endpoint')) throw invalidRequest('/endpoint', `is not for ${kind}`)
  return addressOf({ address: address.trim(), secret, endpoint })
}

async function lockedChannel(trx: Transaction<Tables>, clientId: string, id: string): Promise<ClientChannelRow> {
  const row = await trx
    .updateTable('client_channels')
    .set(({ ref }) => ({ name: ref('name') }))
    .where('id', '=', id)
    .where('client_id', '=', clientId)
    .returningAll()
    .executeTakeFirst()
  if (row === undefined) throw notFound('Channel')
  return row
}

async function audit(
  trx: Transaction<Tables>,
  ctx: Context,
  verb: 'create' | 'update' | 'delete',
  before: ClientChannelRow | null,
  after: ClientChannelRow | null,
): Promise<void> {
  const id = after?.id ?? before?.id ?? ''
  const [was, is] = [auditFields(before), auditFields(after)]
  // Of an address that is a secret only a part is shown, which may be the same.
  const isHidden = before?.address !== after?.address && was?.address === is?.address && was?.endpoint === is?.endpoint
  await writeAudit(trx, ctx, [
    {
      ...{ entity: 'channel', verb, id },
      before: was && { ...was, ...(isHidden ? { secret: 'as before' } : {}) },
      after: is && { ...is, ...(isHidden ? { secret: 'changed' } : {}) },
    },
  ])
}

function auditFields(row: ClientChannelRow | null) {
  if (row === null) return null
  const { fingerprint: _secret, ...fields } = ownChannelRecord(row, true)
  return fields
}
