import { sql } from 'kysely'
import { firstIdAt, MINUTE } from '../../lib/index.ts'
import { type ChannelRow, type ClientRow, chunksOf, type DeliveryRow, type Store } from '../../store/index.ts'
import {
  addressNow,
  type ChannelKey,
  type ChannelSettings,
  clientIdOf,
  keyOf,
  kindOf,
  storedAddress,
} from '../channel.ts'
import { isKnownBy } from '../notified.ts'
import type { OnCallPlan } from '../on-call/who-is-on-call.ts'
import { ENDS } from '../outbox-entry.ts'
import { type OwnChannel, withChannels } from '../own-channels.ts'
import { isForIncidents } from '../services/services.ts'
import { type ChannelSnapshot, isOpenTo, OUTAGE_MS, type QueuedMessage } from './schedule.ts'
import { type Claimant, isFree } from './writes.ts'

/** Messages read at once, of the due ones and of those held back; the rest is read when these are sent. */
const MESSAGES_MAX = 500

/** A literal, because with a parameter neither engine uses the partial index of pending messages. */
const IS_PENDING = sql<boolean>`deliveries.state = 'pending'`

/** A channel without its messages. */
type ChannelState = Pick<ChannelSnapshot, 'channel' | 'address' | 'clientIds'>

/** Time that a message is left to other nodes when it has an address only by their settings: nodes may be restarted one by one. */
const LEFT_MS = 10 * MINUTE
/** With these settings a channel has an address if it has one on any node. */
const ALL_SET: ChannelSettings = { globalWebhook: 'https://unknown.invalid', isEmailOn: true }

/**
 * Returns the channels with pending messages that this node may work on, with their addresses. When nothing is pending it reads one
 * empty index. The query hops from channel to channel through the index, however many messages are pending.
 */
export async function channelsWithWork(claimant: Claimant, channelSettings: ChannelSettings): Promise<ChannelState[]> {
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
  const owners = await clientsOf(
    claimant.store,
    channels.map(({ channel }) => clientIdOf(keyOf(channel))),
  )
  return channels.map((channel) => ({
    channel,
    address: addressOf(channel, owners, channelSettings),
    clientIds: activeIn(owners),
  }))
}

/** Returns whether it is worth reading the channel's messages. */
export const mayHaveWork = ({ channel, address }: ChannelState, now: number): boolean =>
  address === null ||
  storedAddress({ key: keyOf(channel.channel), address }) !== channel.address ||
  (channel.off_since === null && isOpenTo(channel, now))

/** Returns the channel as it is at `now`, or undefined when there is none. */
export async function readSnapshot(
  store: Store,
  key: ChannelKey,
  channelSettings: ChannelSettings,
  now: number,
): Promise<ChannelSnapshot | undefined> {
  const channel = await store.read.selectFrom('channels').selectAll().where('channel', '=', key).executeTakeFirst()
  if (channel === undefined) return undefined
  const pending = store.read
    .selectFrom('deliveries')
    .select(['id', 'client_id', 'alert_id', 'incident_id', 'kind', 'created_at', 'not_before', 'group_id'])
    .where('channel', '=', key)
    .where(IS_PENDING)
    .orderBy('id')
    .limit(MESSAGES_MAX)
  // Two limits: however many messages are held back for hours, urgent ones are seen.
  const ready = await pending.where('not_before', '<=', now).execute()
  const held = await pending.where('not_before', '>', now).execute()
  const rows = [...ready, ...held].sort((a, b) => (a.id < b.id ? -1 : 1))
  const clients = await clientsOf(store, [clientIdOf(key), ...rows.map(({ client_id }) => client_id)])
  const isThere = addressNow(key, clients.get(clientIdOf(key) ?? ''), channelSettings) !== null
  const address = addressOf(channel, clients, channelSettings)
  const isLeft = address === null && store.isShared && addressOf(channel, clients, ALL_SET) !== null
  return {
    channel,
    address,
    waiting: (isLeft ? rows.filter(({ not_before }) => not_before <= now - LEFT_MS) : rows).map(queuedMessage),
    clientIds: isThere ? activeIn(clients) : new Set(),
    unannounced: await unannouncedOf(store, key, rows, isForIncidents(kindOf(key, address ?? channel.address))),
  }
}

/**
 * Returns the ids of ends whose opening never got through: it was refused or given up, and nothing else about the alert, or since the
 * last end of the vendor's incident, is pending.
 *
 * @param isKeeper whether the service pages people until it is notified of the end: it may have taken an opening without having said so
 */
async function unannouncedOf(
  { read }: Store,
  channel: ChannelKey,
  rows: readonly Pick<DeliveryRow, 'id' | 'alert_id' | 'incident_id' | 'kind'>[],
  isKeeper: boolean,
): Promise<string[]> {
  const ends = rows.filter(({ kind }) => ENDS.includes(kind))
  const unannounced: string[] = []
  for (const column of ['alert_id', 'incident_id'] as const) {
    const about = ends.flatMap((row) => (row[column] === null ? [] : { id: row.id, about: row[column] }))
    for (const chunk of chunksOf(about)) {
      const said = await read
        .selectFrom('deliveries')
        .select(['id', 'kind', 'state', 'attempts', 'group_id', `${column} as about`])
        .where(
          column,
          'in',
          chunk.map((end) => end.about),
        )
        .where('channel', '=', channel)
        .orderBy('id')
        .execute()
      const byAbout = Map.groupBy(said, (row) => row.about)
      for (const end of chunk) {
        const before = (byAbout.get(end.about) ?? []).filter(({ id }) => id < end.id)
        if (before.length === 0 || isKnownBy(before) || (isKeeper && before.some(mayHaveArrived))) continue
        unannounced.push(end.id)
      }
    }
  }
  return unannounced
}

/** Whether a message that was given up for another was tried, or was settled and thus may have been sent (see `writeGroups`). */
const mayHaveArrived = ({ state, attempts, group_id }: Pick<DeliveryRow, 'state' | 'attempts' | 'group_id'>): boolean =>
  state === 'cancelled' && (attempts > 0 || group_id !== null)

/** Returns how many other openings (or ends) of the client, within `OUTAGE_MS` of these, were already sent on the channel. */
export async function countNotified(
  { read }: Store,
  channel: ChannelKey,
  rows: readonly QueuedMessage[],
): Promise<number> {
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
    .where('alert_id', 'is not', null)
    .where('group_id', 'is not', null)
    .executeTakeFirstOrThrow()
  return Number(count)
}

/** Returns the receipts of earlier messages about the same alert on the channel, the newest first. */
export async function receiptsBefore(
  { read }: Pick<Store, 'read'>,
  channel: ChannelKey,
  { id, alertId }: Pick<QueuedMessage, 'id' | 'alertId'>,
): Promise<string[]> {
  if (alertId === null) return []
  const rows = await read
    .selectFrom('deliveries')
    .select('receipt')
    .where('alert_id', '=', alertId)
    .where('channel', '=', channel)
    .where('id', '<', id)
    .where('receipt', 'is not', null)
    .orderBy('id', 'desc')
    .execute()
  return rows.flatMap(({ receipt }) => receipt ?? [])
}

/** Returns a message with all of its group, in order; those that were sent or given up meanwhile are missing. */
export async function messagesOf(
  store: Store,
  channel: ChannelKey,
  { id, groupId }: QueuedMessage,
): Promise<DeliveryRow[]> {
  let query = store.read.selectFrom('deliveries').selectAll().where('channel', '=', channel).where(IS_PENDING)
  query = groupId === null ? query.where('id', '=', id) : query.where('group_id', '=', groupId)
  return query.orderBy('id').execute()
}

/**
 * Returns the channel's address. For an inactive or deleted client or channel it is null, except for services that keep incidents
 * of their own: they page people until they are notified of the end. If the channel was deleted, it is the address that was used
 * last.
 */
function addressOf(
  { channel, address: used }: Pick<ChannelRow, 'channel' | 'address'>,
  clients: ReadonlyMap<string, Owner>,
  channelSettings: ChannelSettings,
): string | null {
  const key = keyOf(channel)
  const owner = clients.get(clientIdOf(key) ?? '')
  const address = addressNow(key, owner, channelSettings)
  if (address === null && isForIncidents(kindOf(key, used))) return used
  return owner?.is_active === 0 && address !== null && !isForIncidents(kindOf(key, address)) ? null : address
}

const activeIn = (clients: ReadonlyMap<string, Owner>): ReadonlySet<string> =>
  new Set([...clients.values()].flatMap(({ id, is_active }) => (is_active === 1 ? id : [])))

type Owner = ClientRow & { channels: readonly OwnChannel[]; onCall: OnCallPlan | null }

async function clientsOf(store: Store, ids: readonly (string | null)[]): Promise<Map<string, Owner>> {
  const clients = new Map<string, Owner>()
  const given = [...new Set(ids)].filter((id) => id !== null)
  for (const chunk of chunksOf(given)) {
    const rows = await store.read.selectFrom('clients').selectAll().where('id', 'in', chunk).execute()
    for (const row of await withChannels(store.read, rows)) clients.set(row.id, row)
  }
  return clients
}

const queuedMessage = (
  row: Pick<
    DeliveryRow,
    'id' | 'client_id' | 'alert_id' | 'incident_id' | 'kind' | 'created_at' | 'not_before' | 'group_id'
  >,
): QueuedMessage => ({
  id: row.id,
  clientId: row.client_id,
  alertId: row.alert_id ?? row.incident_id,
  kind: row.kind,
  createdAt: row.created_at,
  notBefore: row.not_before,
  groupId: row.group_id,
})
