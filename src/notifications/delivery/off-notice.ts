import type { DeliveryRow, Store } from '../../store/index.ts'
import {
  type ChannelKey,
  type ChannelSettings,
  channelsOf,
  channelsOfPeople,
  clientIdOf,
  inWords,
  isWorking,
  kindOf,
  offChannels,
} from '../channel.ts'
import type { OwnFailureMessage } from '../message.ts'
import { enqueue } from '../outbox.ts'
import { withChannels } from '../own-channels.ts'
import { isForIncidents, isForPeople } from '../services/services.ts'
import { cancel } from './writes.ts'

interface SwitchedOff {
  key: ChannelKey
  address: string
  error: string
  nodeId: string
  now: number
}

/**
 * Writes a notice that a client's channel is being switched off: to the operator or, if that channel does not work, to the client
 * over its other channels. Writes none when the channel was deleted or has another address by now.
 */
export async function writeOffNotice(
  store: Store,
  channelSettings: ChannelSettings,
  { key, address, error, nodeId, now }: SwitchedOff,
): Promise<void> {
  const rows = await store.read
    .selectFrom('clients')
    .selectAll()
    .where('id', '=', clientIdOf(key) ?? '')
    .where('is_active', '=', 1)
    .execute()
  const [client] = await withChannels(store.read, rows)
  if (client === undefined) return
  const recipients = { client, ...channelSettings }
  const isThere = [...channelsOf(recipients), ...channelsOfPeople(recipients)].some(
    (channel) => channel.key === key && channel.address === address,
  )
  if (!isThere) return
  const others = channelsOf(recipients)
    .filter((channel) => channel.key !== key && !isForIncidents(kindOf(channel.key, channel.address)))
    .filter(isWorking(await offChannels(store.read)))
  const operator = others.filter((channel) => channel.key === 'global')
  const people = others.filter((channel) => isForPeople(kindOf(channel.key, channel.address)))
  const message: OwnFailureMessage = {
    kind: 'own_failure',
    part: 'deliveries',
    channel: key,
    client: { id: client.id, name: client.name },
    message: `${inWords(key, client)} is off: ${error}. Nothing is sent there until the address is edited`,
    since: now,
    node: nodeId,
  }
  const entries = (operator.length > 0 ? operator : people).map((channel) => ({
    channel,
    clientId: client.id,
    alertId: null,
    message,
  }))
  await store.write.transaction().execute((trx) => enqueue(trx, entries, now))
}

/**
 * Cancels a notice about a channel that has worked since: the notice's own channel may have failed for long.
 *
 * @returns whether the message was such a notice
 */
export async function cancelOffNotice(store: Store, [row]: readonly DeliveryRow[]): Promise<boolean> {
  if (row?.kind !== 'own_failure') return false
  const { channel = '', since } = JSON.parse(row.message) as OwnFailureMessage
  const { last_success_at } =
    (await store.read
      .selectFrom('channels')
      .select('last_success_at')
      .where('channel', '=', channel)
      .executeTakeFirst()) ?? {}
  if ((last_success_at ?? 0) <= since) return false
  await cancel(store, { ids: [row.id], reason: 'the channel works again' })
  return true
}
