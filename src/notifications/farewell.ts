import { type SelectQueryBuilder, sql } from 'kysely'
import { newOrderedId } from '../lib/index.ts'
import { chunksOf, type Store, type Tables, type Transaction } from '../store/index.ts'
import { type ChannelKey, clientIdOf, keyOf, kindOf, ownIdOf, ownKey, UNTRIED } from './channel.ts'
import { type AlertMessage, CHANNEL_ENDS, type ChannelEnd, isEndOfChannel } from './message.ts'
import { isForIncidents } from './services/services.ts'

// Services that keep incidents of their own page people until they are notified of the end. So an end is written for what is
// deleted, and when the channel itself is deleted, switched off or gets another key. Until that is sent its row in `channels`
// stays, whose address holds the key.

const keepsIncidents = ({ channel, address }: { channel: string; address: string }): boolean =>
  isForIncidents(kindOf(keyOf(channel), address))

interface Deleted {
  alertIds?: SelectQueryBuilder<Tables, 'alerts', { id: string }>
  channel?: ChannelKey
  clientId?: string
  /** Why, when only the channel ends. With another key, pending messages are sent under the new one. */
  why?: ChannelEnd
}

/** Returns the messages written for such channels about what is being deleted, by channel and alert, the oldest first. */
async function writtenToKeepers(trx: Transaction<Tables>, { alertIds, channel, clientId }: Deleted) {
  let query = trx
    .selectFrom('deliveries')
    .innerJoin('channels', 'channels.channel', 'deliveries.channel')
    .select(['deliveries.id', 'deliveries.channel', 'alert_id', 'client_id', 'kind', 'state', 'attempts', 'group_id'])
    .select(['receipt', 'channels.address'])
    .where('deliveries.channel', 'like', 'own:%')
    .where('alert_id', 'is not', null)
    .orderBy('deliveries.id')
  if (alertIds !== undefined) query = query.where('alert_id', 'in', alertIds)
  if (channel !== undefined) {
    // `channel` has no index, and without the client's the whole table would be read, while nothing else could write.
    query = query.where('deliveries.channel', '=', channel).where('client_id', '=', clientIdOf(channel))
  }
  if (clientId !== undefined) query = query.where('client_id', '=', clientId)
  const rows = await query.execute()
  return Map.groupBy(rows.filter(keepsIncidents), (row) => `${row.channel} ${row.alert_id}`)
}

/**
 * Writes the ends of these alerts for such channels, in the transaction that deletes the alerts, and deletes all other messages
 * about them.
 */
export async function removeMessagesOfAlerts(
  trx: Transaction<Tables>,
  alertIds: SelectQueryBuilder<Tables, 'alerts', { id: string }>,
  now: number,
): Promise<void> {
  const ends = await writeEnds(trx, { alertIds }, now)
  const kept = ends.flatMap(({ id, receipts }) => [id, ...receipts])
  await trx
    .deleteFrom('deliveries')
    .where('alert_id', 'in', alertIds)
    .$if(kept.length > 0, (others) => others.where('id', 'not in', kept))
    .execute()
  await removeRests(trx, alertIds)
}

/** Deletes pending rests of e-mails (see `isRest`). They have no `alert_id`, so their message tells which alert they are about. */
async function removeRests(
  trx: Transaction<Tables>,
  alertIds: SelectQueryBuilder<Tables, 'alerts', { id: string }>,
): Promise<void> {
  const rests = await trx
    .selectFrom('deliveries')
    .select(['id', 'message'])
    .where('state', '=', 'pending')
    .where('alert_id', 'is', null)
    .where('group_id', 'is not', null)
    .execute()
  // Digests have none.
  const byAlert = Map.groupBy(rests, ({ message }) => (JSON.parse(message) as Partial<AlertMessage>).alert?.id)
  for (const chunk of chunksOf(Array.from(byAlert.keys()).filter((id) => id !== undefined))) {
    const gone = await alertIds.where('alerts.id', 'in', chunk).execute()
    const ids = gone.flatMap(({ id }) => byAlert.get(id) ?? []).map(({ id }) => id)
    for (const part of chunksOf(ids)) await trx.deleteFrom('deliveries').where('id', 'in', part).execute()
  }
}

/** Writes the ends of what was opened on a channel that is being deleted or switched off. */
export async function closeChannel(
  trx: Transaction<Tables>,
  channel: ChannelKey,
  why: 'channel_deleted' | 'channel_off',
  now: number,
): Promise<void> {
  await writeEnds(trx, { channel, why }, now)
}

/**
 * Ends what was opened under the channel's previous address. These ends, and what was sent there about the same alerts, move to a
 * new key in `channels` that keeps the old address; pending messages go to the new address.
 */
export async function leaveAddress(
  trx: Transaction<Tables>,
  channel: ChannelKey,
  address: string,
  now: number,
): Promise<void> {
  const left = ownKey(clientIdOf(channel) ?? '', newOrderedId(now))
  const ends = await writeEnds(trx, { channel, why: 'channel_rekeyed' }, now)
  if (ends.length === 0) return
  const before = await trx
    .selectFrom('channels')
    .select('address')
    .where('channel', '=', channel)
    .executeTakeFirstOrThrow()
  await trx
    .insertInto('channels')
    .values({ channel: left, address: before.address, ...UNTRIED })
    .execute()
  await trx
    .updateTable('channels')
    .set({ address, ...UNTRIED })
    .where('channel', '=', channel)
    .execute()
  for (const ids of chunksOf(ends.flatMap(({ id, said }) => [id, ...said]))) {
    await trx.updateTable('deliveries').set({ channel: left }).where('id', 'in', ids).execute()
  }
}

/**
 * Moves ends that are pending under an address to the channel that has it now, with what was sent there about the same alerts. On
 * two channels the end could come after what opens next, and resolve that: the service knows both by the alert.
 */
export async function takeOverEnds(trx: Transaction<Tables>, channel: ChannelKey, address: string): Promise<void> {
  const pending = await trx
    .selectFrom('deliveries')
    .innerJoin('channels', 'channels.channel', 'deliveries.channel')
    .select(['deliveries.channel', 'alert_id', 'message'])
    .where('channels.channel', 'like', `${ownKey(clientIdOf(channel) ?? '', '')}%`)
    .where('channels.channel', '<>', channel)
    .where('channels.address', '=', address)
    .where(sql<boolean>`deliveries.state = 'pending'`)
    .where('kind', '=', 'resolved')
    .execute()
  const ends = pending.filter(({ message }) => isEndOfChannel(JSON.parse(message) as AlertMessage))
  if (ends.length === 0) return
  await trx
    .insertInto('channels')
    .values({ channel, address, ...UNTRIED })
    .onConflict((conflict) => conflict.column('channel').doNothing())
    .execute()
  for (const { channel: left, alert_id } of ends) {
    await trx
      .updateTable('deliveries')
      .set({ channel })
      .where('channel', '=', left)
      .where('alert_id', '=', alert_id)
      .execute()
  }
}

/** An end that was written. */
interface End {
  id: string
  /** Ids of earlier messages about the same alert that were delivered. */
  said: readonly string[]
  /** Ids of those that hold receipts, by which the service knows what else was opened. */
  receipts: readonly string[]
}

async function writeEnds(trx: Transaction<Tables>, deleted: Deleted, now: number): Promise<End[]> {
  const ends: End[] = []
  for (const rows of (await writtenToKeepers(trx, deleted)).values()) {
    const last = rows.findLast(({ state }) => state !== 'cancelled')
    // The alert was deleted before, with all that was said about it but this end: nothing would show any more that another one is due.
    if (last?.state === 'pending' && rows.every(({ kind }) => kind === 'resolved')) {
      ends.push({
        id: last.id,
        said: rows.flatMap(({ id, state }) => (state === 'delivered' ? id : [])),
        receipts: receiptsOf(rows),
      })
      continue
    }
    // A settled message (see `writeGroups`) may be on its way.
    const wasTried = rows.some(
      ({ state, attempts, group_id }) => state === 'delivered' || attempts > 0 || group_id !== null,
    )
    if (last === undefined || !wasTried || (last.kind === 'resolved' && last.state === 'delivered')) continue
    const { message } = await trx
      .selectFrom('deliveries')
      .select('message')
      .where('id', '=', last.id)
      .executeTakeFirstOrThrow()
    const { untold: _untold, ...said } = JSON.parse(message) as AlertMessage
    const { why } = deleted
    const alert = { ...said.alert, state: 'resolved', resolved_at: now, resolution: why ?? 'probe_removed' } as const
    const { channel, client_id, alert_id } = last
    const id = newOrderedId(now)
    // What is over is no news under another key.
    const isInVain = ({ state }: (typeof rows)[number]) =>
      state === 'pending' && (why !== 'channel_rekeyed' || last.kind === 'resolved')
    for (const ids of chunksOf(rows.flatMap((row) => (isInVain(row) ? row.id : [])))) {
      const cancelled = {
        state: 'cancelled',
        last_error: why === undefined ? 'what it is about was deleted' : CHANNEL_ENDS[why],
      }
      await trx.updateTable('deliveries').set(cancelled).where('id', 'in', ids).execute()
    }
    await trx
      .insertInto('deliveries')
      .values({
        ...{ id, channel, client_id, alert_id, kind: 'resolved', state: 'pending', attempts: 0 },
        ...{ message: JSON.stringify({ ...said, kind: 'resolved', alert }), created_at: now, not_before: now },
      })
      .execute()
    ends.push({
      id,
      said: rows.flatMap(({ id, state, receipt }) => (state === 'delivered' || receipt !== null ? id : [])),
      receipts: receiptsOf(rows),
    })
  }
  return ends
}

const receiptsOf = (rows: readonly { id: string; receipt: string | null }[]): string[] =>
  rows.flatMap(({ id, receipt }) => (receipt === null ? [] : id))

/** Deletes the messages and channels of a client that is being deleted, except pending ends for services that keep incidents. */
export async function removeMessagesOfClient(trx: Transaction<Tables>, clientId: string): Promise<void> {
  const written = await writtenToKeepers(trx, { clientId })
  const ends = [...written.values()].filter((rows) =>
    rows.some(({ kind, state }) => kind === 'resolved' && state === 'pending'),
  )
  const kept = ends
    .flat()
    .filter(({ kind, state, receipt }) => receipt !== null || (kind === 'resolved' && state === 'pending'))
  const keptIds = kept.map(({ id }) => id)
  const keptChannels = [...new Set(kept.map(({ channel }) => channel))]
  await trx
    .deleteFrom('deliveries')
    .where('client_id', '=', clientId)
    .$if(kept.length > 0, (others) => others.where('id', 'not in', keptIds))
    .execute()
  await trx
    .deleteFrom('channels')
    .where(({ eb, or }) =>
      or([eb('channel', 'in', [`chat:${clientId}`, `email:${clientId}`]), eb('channel', 'like', `own:${clientId}:%`)]),
    )
    .$if(kept.length > 0, (others) => others.where('channel', 'not in', keptChannels))
    .execute()
  await trx.deleteFrom('client_channels').where('client_id', '=', clientId).execute()
  await trx.deleteFrom('on_call_rotations').where('client_id', '=', clientId).execute()
  await trx.deleteFrom('on_call_overrides').where('client_id', '=', clientId).execute()
}

/** Deletes what is known about deleted channels of services that keep incidents, once nothing is pending there. */
export async function forgetDeletedChannels({ read, write }: Store): Promise<void> {
  const rows = await read
    .selectFrom('channels')
    .select(['channel', 'address'])
    .where('channel', 'like', 'own:%')
    .execute()
  const keepers = rows.filter(keepsIncidents).map(({ channel }) => ({ channel, id: ownIdOf(keyOf(channel)) ?? '' }))
  for (const chunk of chunksOf(keepers)) {
    const ofChunk = chunk.map(({ id }) => id)
    const there = await read.selectFrom('client_channels').select('id').where('id', 'in', ofChunk).execute()
    const ids = new Set(there.map(({ id }) => id))
    const gone = chunk.flatMap(({ channel, id }) => (ids.has(id) ? [] : channel))
    if (gone.length === 0) continue
    await write
      .deleteFrom('channels')
      .where('channel', 'in', gone)
      .where(({ not, exists, selectFrom }) =>
        not(
          exists(
            selectFrom('deliveries')
              .select('deliveries.id')
              .whereRef('deliveries.channel', '=', 'channels.channel')
              .where('deliveries.state', '=', 'pending'),
          ),
        ),
      )
      .execute()
  }
}
