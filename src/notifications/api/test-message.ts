import { RateLimitedError } from '../../http/index.ts'
import { AppError, type Clock, MINUTE, notFound, SECOND } from '../../lib/index.ts'
import { type Context, writeAudit } from '../../management/index.ts'
import type { ClientRow } from '../../store/index.ts'
import { type Channel, channelsOf, kindOf } from '../channel.ts'
import type { Notifications } from '../notifications.ts'
import type { TestResult } from './schemas.ts'

/** Test messages of a client within a minute: chat services count them as they count others. */
const TESTS_PER_MINUTE = 5

/** Counts test messages, for one node. */
export class TestLimit {
  readonly #sentAt = new Map<string, number[]>()

  /** @throws RateLimitedError when there were too many for the client in the last minute */
  take(clientId: string, clock: Clock): void {
    const now = clock.now()
    for (const [id, times] of this.#sentAt) {
      const recent = times.filter((time) => time > now - MINUTE)
      if (recent.length === 0) this.#sentAt.delete(id)
      else this.#sentAt.set(id, recent)
    }
    const times = this.#sentAt.get(clientId) ?? []
    const [oldest = now] = times
    if (times.length >= TESTS_PER_MINUTE) {
      const seconds = Math.ceil((oldest + MINUTE - now) / SECOND)
      throw new RateLimitedError(`${TESTS_PER_MINUTE} test messages a minute are enough: wait ${seconds} s`, seconds)
    }
    this.#sentAt.set(clientId, [...times, now])
  }
}

/**
 * Sends a test message now, over each channel that reaches people about the client. One that gets through switches its channel
 * on again.
 *
 * @throws AppError `not_found`; `conflict` when there is no channel; `rate_limited`
 */
export async function sendTestMessages(
  ctx: Context,
  notifications: Notifications,
  limit: TestLimit,
  clientId: string,
): Promise<TestResult[]> {
  const client = await ctx.store.read.selectFrom('clients').selectAll().where('id', '=', clientId).executeTakeFirst()
  if (client === undefined) throw notFound('Client')
  const channels = channelsOf({ client, ...notifications.reach })
  if (channels.length === 0) throw noChannel(client)
  limit.take(clientId, ctx.clock)
  const sent = await Promise.all(channels.map((channel) => sendTest(notifications, client, channel, ctx.actor)))
  const results = [...sent, ...emailOff(client, notifications.reach.isEmailOn)]
  // Without the errors: a mail server's may name the address.
  const outcomes = results.map(({ channel, delivered }) => [channel, delivered ? 'delivered' : 'failed'])
  await ctx.store.write.transaction().execute((trx) =>
    writeAudit(trx, ctx, [
      {
        entity: 'client',
        verb: 'test_notification',
        id: clientId,
        before: null,
        after: Object.fromEntries(outcomes),
      },
    ]),
  )
  return results
}

async function sendTest(
  notifications: Notifications,
  client: ClientRow,
  channel: Channel,
  asked_by: string,
): Promise<TestResult> {
  const message = { kind: 'test', client: { id: client.id, name: client.name }, asked_by } as const
  const outcome = await notifications.sendNow(channel, message)
  const result = { channel: channel.key, kind: kindOf(channel.key, channel.address) }
  return outcome.kind === 'delivered'
    ? { ...result, delivered: true, error: null, note: outcome.note ?? null }
    : { ...result, delivered: false, error: outcome.error, note: null }
}

/** The client's e-mail where the server sends none: people would look for it among the channels. */
function emailOff({ id, email }: ClientRow, isEmailOn: boolean): TestResult[] {
  if (email === null || isEmailOn) return []
  return [{ channel: `email:${id}`, kind: 'email', delivered: false, error: 'off: SMTP_URL is not set', note: null }]
}

function noChannel({ email }: ClientRow): AppError {
  const ways = 'give the client a chat webhook or an e-mail address, or set CHAT_WEBHOOK_URL'
  return new AppError(
    'conflict',
    email === null
      ? `No channel is set up: ${ways}`
      : `No channel is set up, as e-mail is off on this server: set SMTP_URL, or ${ways}`,
  )
}
