import { sql } from 'kysely'
import { isoTimeOrNull } from '../../lib/index.ts'
import { maskedUrl } from '../../management/index.ts'
import type { ChannelRow, Store } from '../../store/index.ts'
import { type Channel, channelsOf, kindOf, type Reach, storedAddress } from '../channel.ts'
import { UNTRIED } from '../channel-health.ts'
import type { ServiceKind } from '../services/services.ts'
import { shownError } from './deliveries.ts'
import type { ChannelList, ChannelRecord } from './schemas.ts'

interface Owner {
  id: string
  name: string
}

/** Every channel and its health; those that were never used count as healthy. */
export async function listChannels(
  { read }: Pick<Store, 'read'>,
  reach: Reach,
  seesSecrets: boolean,
): Promise<ChannelList> {
  const clients = await read
    .selectFrom('clients')
    .select(['id', 'name', 'email', 'chat_webhook'])
    .orderBy('created_at')
    .orderBy('id')
    .execute()
  const rows = await read.selectFrom('channels').selectAll().execute()
  const known = new Map(rows.map((row) => [row.channel, row]))
  const waiting = await waitingByChannel(read)
  const { globalWebhook } = reach
  const global: [Channel, Owner | null][] =
    globalWebhook === null ? [] : [[{ key: 'global', address: globalWebhook }, null]]
  const own = clients.flatMap((client) =>
    channelsOf({ client, ...reach })
      .filter(({ key }) => key !== 'global')
      .map((channel): [Channel, Owner | null] => [channel, client]),
  )
  return {
    email_enabled: reach.isEmailOn,
    channels: [...global, ...own].map(([channel, owner]) =>
      channelRecord(channel, owner, known.get(channel.key), waiting.get(channel.key) ?? 0, seesSecrets),
    ),
  }
}

async function waitingByChannel(read: Store['read']): Promise<Map<string, number>> {
  const rows = await read
    .selectFrom('deliveries')
    .select(['channel', (eb) => eb.fn.countAll<number>().as('count')])
    // Written out: with a parameter neither engine would use the index over what is pending.
    .where(sql<boolean>`state = 'pending'`)
    .groupBy('channel')
    .execute()
  return new Map(rows.map(({ channel, count }) => [channel, Number(count)]))
}

type ChannelHealth = Pick<
  ChannelRow,
  'failures' | 'next_attempt_at' | 'failing_since' | 'last_error' | 'last_success_at' | 'off_since'
>

function channelRecord(
  { key, address }: Channel,
  owner: Owner | null,
  row: ChannelRow | undefined,
  pending: number,
  seesSecrets: boolean,
): ChannelRecord {
  const kind = kindOf(key, address)
  // What is known of an address that was edited since says nothing about the one there is now.
  const health: ChannelHealth = row?.address === storedAddress({ key, address }) ? row : UNTRIED
  const { failures, next_attempt_at, failing_since, last_error, last_success_at, off_since } = health
  const isFailing = off_since === null && failures > 0
  return {
    channel: key,
    client_id: owner?.id ?? null,
    client_name: owner?.name ?? null,
    kind,
    address: seesSecrets ? shownAddress(kind, address) : null,
    state: off_since === null ? (isFailing ? 'failing' : 'ok') : 'off',
    last_error: shownError(key, last_error, seesSecrets),
    last_success_at: isoTimeOrNull(last_success_at),
    failing_since: isoTimeOrNull(failing_since),
    off_since: isoTimeOrNull(off_since),
    next_attempt_at: isFailing ? isoTimeOrNull(next_attempt_at) : null,
    pending,
  }
}

const shownAddress = (kind: ServiceKind, address: string): string => (kind === 'email' ? address : maskedUrl(address))
