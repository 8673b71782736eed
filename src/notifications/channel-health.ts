import type { ChannelRow, Store } from '../store/index.ts'
import type { Channel } from './channel.ts'
import { storedAddress } from './channel.ts'

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
