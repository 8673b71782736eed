import { chunksOf, type Store } from '../store/index.ts'
import { type ChannelKey, clientIdOf } from './channel.ts'

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
