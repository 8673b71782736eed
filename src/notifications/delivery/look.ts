import { sql } from 'kysely'
import { firstIdAt } from '../../lib/index.ts'
import { type ChannelRow, type ClientRow, chunksOf, type DeliveryRow, type Store } from '../../store/index.ts'
import { addressNow, type ChannelKey, clientIdOf, keyOf, type Reach } from '../channel.ts'
import { storedAddress } from '../stored-address.ts'
import type { ChannelLook } from './action.ts'
import { type Claimant, isFree } from './claims.ts'
import { OUTAGE_MS, type Waiting } from './planning.ts'

/** Messages looked at in one step; the rest comes when these are sent. */
const LOOKED_AT = 500

/** Written out, as with a parameter neither engine would use the index over what is pending. */
const IS_PENDING = sql<boolean>`deliveries.state = 'pending'`

/**
 * The channels on which something waits and which this node may work on, with the addresses they lead to. While nothing waits,
 * it reads one empty index. Hops from one channel to the next through the index, however many messages wait.
 */
export async function channelsWithWork(
  claimant: Claimant,
  reach: Reach,
): Promise<Omit<ChannelLook, 'waiting' | 'untold'>[]> {
  const { read } = claimant.store
  const { rows: found } = await sql<{ channel: string }>`
    with recursive found (channel) as (
      select min(channel) from deliveries where state = 'pending'
      union all
      select (select min(d.channel) from deliveries as d where d.state = 'pending' and d.channel > found.channel)
      from found where found.channel is not null
    )
    select channel from found where channel is not null`.execute(read)
  const channels: ChannelRow[] = []
  for (const chunk of chunksOf(found.map(({ channel }) => channel))) {
    const rows = await read
      .selectFrom('channels')
      .selectAll()
      .where('channel', 'in', chunk)
      .where(isFree(claimant))
      .execute()
    channels.push(...rows)
  }
  const owners = await activeClients(
    claimant.store,
    channels.map(({ channel }) => clientIdOf(keyOf(channel))),
  )
  return channels.map((channel) => ({
    channel,
    address: addressOf(channel, owners, reach),
    clientIds: new Set(owners.keys()),
  }))
}

/** Whether a look at the channel's messages can lead to anything. */
export const isWorthALook = ({ channel, address }: Omit<ChannelLook, 'waiting' | 'untold'>, now: number): boolean =>
  address === null ||
  storedAddress({ key: keyOf(channel.channel), address }) !== channel.address ||
  (channel.off_since === null && channel.next_attempt_at <= now)

/** The channel as it is now; undefined when there is none. */
export async function lookAt(store: Store, key: ChannelKey, reach: Reach): Promise<ChannelLook | undefined> {
  const channel = await store.read.selectFrom('channels').selectAll().where('channel', '=', key).executeTakeFirst()
  if (channel === undefined) return undefined
  const rows = await store.read
    .selectFrom('deliveries')
    .select(['id', 'client_id', 'alert_id', 'kind', 'created_at', 'not_before', 'group_id'])
    .where('channel', '=', key)
    .where(IS_PENDING)
    .orderBy('id')
    .limit(LOOKED_AT)
    .execute()
  const clients = await activeClients(store, [clientIdOf(key), ...rows.map(({ client_id }) => client_id)])
  return {
    channel,
    address: addressOf(channel, clients, reach),
    waiting: rows.map(waitingOf),
    clientIds: new Set(clients.keys()),
    untold: await untoldOf(store, key, rows),
  }
}

/**
 * Ids of those that say an alert is over of which its opening was never notified: what said so was refused or given up, and nothing
 * else about it waits any more.
 */
async function untoldOf(
  { read }: Store,
  channel: ChannelKey,
  rows: readonly Pick<DeliveryRow, 'id' | 'alert_id' | 'kind'>[],
): Promise<string[]> {
  const untold: string[] = []
  for (const { id, alert_id, kind } of rows) {
    if (kind !== 'resolved' || alert_id === null) continue
    const { told, failed } = await read
      .selectFrom('deliveries')
      .select(({ fn, eb }) => [
        fn.countAll<number>().filterWhere('state', 'in', ['delivered', 'pending']).as('told'),
        fn
          .countAll<number>()
          .filterWhere(eb.not(eb('state', 'in', ['delivered', 'pending'])))
          .as('failed'),
      ])
      .where('alert_id', '=', alert_id)
      .where('channel', '=', channel)
      .where('id', '<', id)
      .executeTakeFirstOrThrow()
    if (Number(told) === 0 && Number(failed) > 0) untold.push(id)
  }
  return untold
}

/** How many more alerts of the client the channel was told of that opened (or ended) within `OUTAGE_MS` together with these. */
export async function countTold({ read }: Store, channel: ChannelKey, rows: readonly Waiting[]): Promise<number> {
  const [first, last] = [rows[0], rows.at(-1)]
  if (first === undefined || last === undefined || first.clientId === null) return 0
  const { count } = await read
    .selectFrom('deliveries')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('client_id', '=', first.clientId)
    .where('id', '>=', firstIdAt(last.createdAt - OUTAGE_MS))
    .where('id', '<', firstIdAt(first.createdAt + OUTAGE_MS + 1))
    .where('channel', '=', channel)
    .where('kind', '=', first.kind)
    .where('group_id', 'is not', null)
    .executeTakeFirstOrThrow()
  return Number(count)
}

/** A message with all of its group, in their order; those that were sent or given up meanwhile are missing. */
export async function messagesOf(store: Store, channel: ChannelKey, { id, groupId }: Waiting): Promise<DeliveryRow[]> {
  let query = store.read.selectFrom('deliveries').selectAll().where('channel', '=', channel).where(IS_PENDING)
  query = groupId === null ? query.where('id', '=', id) : query.where('group_id', '=', groupId)
  return query.orderBy('id').execute()
}

const addressOf = (
  { channel }: Pick<ChannelRow, 'channel'>,
  clients: ReadonlyMap<string, ClientRow>,
  reach: Reach,
): string | null => addressNow(keyOf(channel), clients.get(clientIdOf(keyOf(channel)) ?? ''), reach)

async function activeClients(store: Store, ids: readonly (string | null)[]): Promise<Map<string, ClientRow>> {
  const clients = new Map<string, ClientRow>()
  const given = [...new Set(ids)].filter((id) => id !== null)
  for (const chunk of chunksOf(given)) {
    const rows = await store.read
      .selectFrom('clients')
      .selectAll()
      .where('id', 'in', chunk)
      .where('is_active', '=', 1)
      .execute()
    for (const row of rows) clients.set(row.id, row)
  }
  return clients
}

const waitingOf = (
  row: Pick<DeliveryRow, 'id' | 'client_id' | 'alert_id' | 'kind' | 'created_at' | 'not_before' | 'group_id'>,
): Waiting => ({
  id: row.id,
  clientId: row.client_id,
  alertId: row.alert_id,
  kind: row.kind,
  createdAt: row.created_at,
  notBefore: row.not_before,
  groupId: row.group_id,
})
