import { isReachable, offChannels, type Reach } from '../notifications/index.ts'
import type { ClientRow, Kysely, Tables } from '../store/index.ts'

/** Those of the clients without working notifications: they have no channel, or all of theirs are switched off. */
export async function unreachableClients(
  db: Kysely<Tables>,
  clients: readonly Pick<ClientRow, 'id' | 'name' | 'chat_webhook' | 'email'>[],
  reach: Reach,
): Promise<{ id: string; name: string }[]> {
  const off = await offChannels(db)
  return clients.filter((client) => !isReachable(client, reach, off)).map(({ id, name }) => ({ id, name }))
}
