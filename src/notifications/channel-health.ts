import { type ChannelRow, chunksOf, type Kysely, type Store, type Tables } from '../store/index.ts'
import {
  type Channel,
  type ChannelKey,
  channelsOf,
  clientIdOf,
  type Reach,
  type Recipients,
  storedAddress,
} from './channel.ts'

/** What is known of a channel of which nothing is known. */
export const UNTRIED = {
  next_attempt_at: 0,
  failures: 0,
  failing_since: null,
  last_error: null,
  last_success_at: null,
  off_since: null,
} satisfies Partial<ChannelRow>

/** Writes that a message has just got through to the address, whatever was known of the channel before. */
export async function noteSuccess({ write }: Store, channel: Channel, now: number): Promise<void> {
  const well = { address: storedAddress(channel), ...UNTRIED, last_success_at: now }
  await write
    .insertInto('channels')
    .values({ channel: channel.key, ...well })
    .onConflict((conflict) => conflict.column('channel').doUpdateSet(well))
    .execute()
}

/** The channels that are off until someone mends them, each with the address that failed. */
export async function offChannels(db: Kysely<Tables>): Promise<ReadonlySet<string>> {
  const rows = await db
    .selectFrom('channels')
    .select(['channel', 'address'])
    .where('off_since', 'is not', null)
    .execute()
  return new Set(rows.map(({ channel, address }) => offKey(channel, address)))
}

/** Whether any message about the client goes anywhere. */
export const isReachable = (client: Recipients['client'], reach: Reach, off: ReadonlySet<string>): boolean =>
  channelsOf({ client, ...reach }).some((channel) => !off.has(offKey(channel.key, storedAddress(channel))))

/** An address that was edited since is another one. */
const offKey = (channel: string, address: string): string => `${channel} ${address}`

/** Channels that have failed since before that time without being switched off, in words: `e-mail of ACME: why`. */
export async function channelsFailingSince({ read }: Pick<Store, 'read'>, before: number): Promise<string[]> {
  const channels = await read
    .selectFrom('channels')
    .select(['channel', 'last_error'])
    .where('off_since', 'is', null)
    .where('failing_since', '<=', before)
    .orderBy('failing_since')
    .execute()
  const names = new Map<string, string>()
  for (const ids of chunksOf(channels.flatMap(({ channel }) => clientIdOf(channel as ChannelKey) ?? []))) {
    const clients = await read.selectFrom('clients').select(['id', 'name']).where('id', 'in', ids).execute()
    for (const { id, name } of clients) names.set(id, name)
  }
  return channels.map(({ channel, last_error }) => `${inWords(channel as ChannelKey, names)}: ${last_error}`)
}

function inWords(key: ChannelKey, names: ReadonlyMap<string, string>): string {
  const name = names.get(clientIdOf(key) ?? '')
  if (name === undefined) return 'the webhook for all clients'
  return `${key.startsWith('email:') ? 'e-mail' : 'chat'} of ${name}`
}
