import type { Kysely, Tables } from '../store/index.ts'
import { channelsOf, type Reach, type Recipients, storedAddress } from './channel.ts'

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
