import { sql } from 'kysely'
import { type Access, Allowance, seesSecrets, visibleTo } from '../../http/index.ts'
import { AppError, type Clock, isoTimeOrNull, notFound } from '../../lib/index.ts'
import { type Context, maskedUrl, writeAudit } from '../../management/index.ts'
import type { ChannelRow, ClientRow, Store } from '../../store/index.ts'
import {
  addressesOf,
  type Channel,
  type ChannelKey,
  type ChannelSettings,
  channelsOf,
  kindOf,
  ownKey,
  type Recipients,
  storedAddress,
  UNTRIED,
} from '../channel.ts'
import type { Notifications } from '../notifications.ts'
import { withChannels } from '../own-channels.ts'
import { destinationOf, type ServiceKind } from '../services/services.ts'
import { shownError } from './deliveries.ts'
import type { ChannelList, ChannelRecord, TestResult } from './schemas.ts'

interface Owner {
  id: string
  name: string
}

/** Returns every channel that the caller may see, with its health; channels that were never used count as healthy. */
export async function listChannels(
  { read }: Pick<Store, 'read'>,
  channelSettings: ChannelSettings,
  access: Access,
): Promise<ChannelList> {
  const visible = visibleTo(access)
  const clients = await read
    .selectFrom('clients')
    .$if(visible !== null, (all) => all.where('id', 'in', [...(visible ?? [])]))
    .select(['id', 'name', 'email', 'chat_webhook'])
    .orderBy('created_at')
    .orderBy('id')
    .execute()
  const rows = await read.selectFrom('channels').selectAll().execute()
  const known = new Map(rows.map((row) => [row.channel, row]))
  const waiting = await waitingByChannel(read)
  const { globalWebhook } = channelSettings
  const global: [Channel, Owner | null][] =
    globalWebhook === null || visible !== null ? [] : [[{ key: 'global', address: globalWebhook }, null]]
  const own = (await withChannels(read, clients)).flatMap((client) =>
    channelsOf({ client, ...channelSettings })
      .filter(({ key }) => key !== 'global')
      .map((channel): [Channel, Owner | null] => [channel, client]),
  )
  return {
    email_enabled: channelSettings.isEmailOn,
    channels: [...global, ...own].map(([channel, owner]) =>
      channelRecord(
        channel,
        owner,
        known.get(channel.key),
        waiting.get(channel.key) ?? 0,
        seesSecrets(access, owner?.id ?? null),
      ),
    ),
  }
}

async function waitingByChannel(read: Store['read']): Promise<Map<string, number>> {
  const rows = await read
    .selectFrom('deliveries')
    .select(['channel', (eb) => eb.fn.countAll<number>().as('count')])
    // A literal, because with a parameter neither engine uses the partial index of pending messages.
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
  { key, address, minimumSeverity = 'warning' }: Channel,
  owner: Owner | null,
  row: ChannelRow | undefined,
  pending: number,
  showsSecrets: boolean,
): ChannelRecord {
  const kind = kindOf(key, address)
  // What is known about a previous address does not apply to the current one.
  const health: ChannelHealth = row?.address === storedAddress({ key, address }) ? row : UNTRIED
  const { failures, next_attempt_at, failing_since, last_error, last_success_at, off_since } = health
  const isFailing = off_since === null && failures > 0
  return {
    channel: key,
    client_id: owner?.id ?? null,
    client_name: owner?.name ?? null,
    kind,
    address: showsSecrets ? shownAddress(kind, address) : null,
    minimum_severity: minimumSeverity,
    state: off_since === null ? (isFailing ? 'failing' : 'ok') : 'off',
    last_error: shownError(key, last_error, showsSecrets),
    last_success_at: isoTimeOrNull(last_success_at),
    failing_since: isoTimeOrNull(failing_since),
    off_since: isoTimeOrNull(off_since),
    next_attempt_at: isFailing ? isoTimeOrNull(next_attempt_at) : null,
    pending,
  }
}

const shownAddress = (kind: ServiceKind, address: string): string =>
  kind === 'email' ? address : maskedUrl(destinationOf(address).url)

/** Test messages of a client in a minute: chat services count them like any others. */
const PER_MINUTE = 5
/**
 * Addresses that a client's test messages may go to by e-mail in an hour: enough to test as many as it can have once, but no flood
 * to strangers.
 */
const EMAILS_PER_HOUR = 250

/** Limits test messages, on each node. */
export class TestLimits {
  readonly #messages: Allowance
  readonly #emails: Allowance

  constructor(clock: Clock) {
    this.#messages = new Allowance(PER_MINUTE, 'test messages', clock)
    this.#emails = new Allowance(EMAILS_PER_HOUR, 'test e-mails', clock, 'an hour')
  }

  /** @throws RateLimitedError */
  take(clientId: string, channels: readonly Channel[]): void {
    this.#messages.take(clientId)
    this.#emails.take(clientId, channels.filter(isEmail).flatMap(addressesOf).length)
  }
}

/**
 * Sends a test message now, over each channel that reaches people about the client. A channel that it gets through is switched on
 * again.
 *
 * @param only the only channel to use
 * @throws AppError `not_found`; `conflict` when there is no channel; `rate_limited`
 */
export async function sendTestMessages(
  ctx: Context,
  notifications: Notifications,
  limits: TestLimits,
  clientId: string,
  only?: ChannelKey,
): Promise<TestResult[]> {
  const found = await ctx.store.read.selectFrom('clients').selectAll().where('id', '=', clientId).execute()
  const [client] = await withChannels(ctx.store.read, found)
  if (client === undefined) throw notFound('Client')
  const channels = channelsOf({ client, ...notifications.channelSettings }).filter(
    ({ key }) => only === undefined || key === only,
  )
  const off = notifications.channelSettings.isEmailOn ? [] : emailsOf(client).filter((key) => (only ?? key) === key)
  if (channels.length === 0) throw nothingSent(off.length > 0 ? 'email' : only === undefined ? 'none' : 'one')
  limits.take(clientId, channels)
  const sent = await Promise.all(channels.map((channel) => sendTest(notifications, client, channel, ctx.actor)))
  // Listed too, because people would look for them among the channels.
  const results = [...sent, ...off.map(emailOff)]
  // Without the errors, as that of a mail server may hold the address.
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

/** Returns the client's channels that are e-mail. */
const emailsOf = ({ id, email, channels }: Recipients['client']): ChannelKey[] => [
  ...(email === null ? [] : [`email:${id}` as const]),
  ...channels
    .map((own) => ({ key: ownKey(id, own.id), address: own.address }))
    .filter(isEmail)
    .map(({ key }) => key),
]

const isEmail = ({ key, address }: Channel): boolean => kindOf(key, address) === 'email'

const emailOff = (channel: ChannelKey): TestResult => ({
  channel,
  kind: 'email',
  delivered: false,
  error: 'off: SMTP_URL is not set',
  note: null,
})

const WHY_NOTHING = {
  none: 'No channel is set up: give the client a chat webhook or an e-mail address, or set CHAT_WEBHOOK_URL',
  one: 'Nothing was sent: the channel is switched off, or another one has its address',
  email: 'Nothing was sent, as e-mail is off on this server: set SMTP_URL, or give the client a chat webhook',
}

const nothingSent = (why: keyof typeof WHY_NOTHING): AppError => new AppError('conflict', WHY_NOTHING[why])
