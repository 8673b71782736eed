import { createHash } from 'node:crypto'
import { quoted } from '../lib/index.ts'
import { type ChannelRow, chunksOf, type Kysely, type Store, type Tables } from '../store/index.ts'
import type { Severity } from './message.ts'
import { type OnCallPerson, type OnCallPlan, whoIsOnCall } from './on-call/who-is-on-call.ts'
import { type OwnChannel, withChannels } from './own-channels.ts'
import { destinationOf, SERVICE_KINDS, type ServiceKind, serviceOf } from './services/services.ts'

/** A way to reach people: `global` for all clients, a client's chat webhook or e-mail, or one of its own channels (`own:CLIENT:ID`). */
export type ChannelKey = 'global' | `chat:${string}` | `email:${string}` | `own:${string}:${string}`

/** The addresses that a message about a client goes to. */
export interface Recipients {
  client: {
    id: string
    chat_webhook: string | null
    email: string | null
    /** The active ones of its own channels. */
    channels: readonly OwnChannel[]
    /** Its on-call plan; null or missing when it has none. */
    onCall?: OnCallPlan | null
  }
  /** `CHAT_WEBHOOK_URL`. */
  globalWebhook: string | null
  /** Without `SMTP_URL` nothing can be sent by e-mail, and nothing is queued for it. */
  isEmailOn: boolean
}

/** Where messages go besides the addresses of the clients, and how soon. */
export interface ChannelSettings extends Omit<Recipients, 'client'> {
  /** How long a warning must last before people are notified of it, ms; they are at once when missing. */
  warningsAfterMs?: number
}

export interface Channel {
  key: ChannelKey
  address: string
  /** Less severe alerts are not sent over it; when missing, all are. */
  minimumSeverity?: Severity
  /** This channel's own setting; null or missing when the general one applies. */
  warningsAfterMs?: number | null
}

/** Returns whether the channel takes a message about an incident whose worst severity was this. */
export const takesSeverity = ({ minimumSeverity }: Pick<Channel, 'minimumSeverity'>, severity: string): boolean =>
  minimumSeverity !== 'critical' || severity === 'critical'

/**
 * Returns every channel that reaches the recipients. An address that occurs twice, also within a list, gets one message, over the
 * channel that takes more severities.
 */
export function channelsOf({ client, globalWebhook, isEmailOn }: Recipients): Channel[] {
  const channels: Channel[] = []
  if (globalWebhook !== null) channels.push({ key: 'global', address: globalWebhook })
  if (client.chat_webhook !== null && client.chat_webhook !== globalWebhook) {
    channels.push({ key: `chat:${client.id}`, address: client.chat_webhook })
  }
  if (client.email !== null && isEmailOn) channels.push({ key: `email:${client.id}`, address: client.email })
  const taken = new Set(channels.flatMap(addressesOf))
  const takesLess = ({ minimumSeverity }: OwnChannel) => Number(minimumSeverity === 'critical')
  for (const own of client.channels.toSorted((a, b) => takesLess(a) - takesLess(b))) {
    const { id, address, minimumSeverity, warningsAfterMs } = own
    const key = ownKey(client.id, id)
    const all = addressesOf({ key, address })
    const left = all.filter((one) => !taken.has(one))
    if (left.length === 0 || (kindOf(key, address) === 'email' && !isEmailOn)) continue
    for (const one of left) taken.add(one)
    const reached = left.length === all.length ? address : left.join(', ')
    channels.push({ key, address: reached, minimumSeverity, warningsAfterMs })
  }
  return channels
}

/** Returns the single addresses of a channel: an e-mail may go to several. */
export const addressesOf = ({ key, address }: Channel): string[] =>
  kindOf(key, address) === 'email'
    ? address
        .toLowerCase()
        .split(',')
        .map((one) => one.trim())
    : [address]

/** Returns the ways to reach one person of a client's rotation: one of the client's channels, and an address of the person's own. */
export function channelsOfPerson({ id, email, channelId }: OnCallPerson, recipients: Recipients): Channel[] {
  const { client, isEmailOn } = recipients
  const own = channelsOf(recipients).filter(({ key }) => channelId !== null && key === ownKey(client.id, channelId))
  return email === null || !isEmailOn ? own : [...own, { key: ownKey(client.id, id), address: email }]
}

/**
 * Returns the channels of the person on call, except addresses that every message goes to anyway; those of everyone in the rotation
 * when nothing else reaches anyone.
 */
export function channelsOnCall(recipients: Recipients, now: number): Channel[] {
  const { client } = recipients
  const plan = client.onCall ?? null
  const found = plan === null ? null : whoIsOnCall(plan.rotation, plan.overrides, now)
  if (found === null) return []
  const channels = withoutCommon(channelsOfPerson(found.person, recipients), recipients)
  return channels.length === 0 && channelsOf(recipients).length === 0 ? channelsOfPeople(recipients) : channels
}

/** Returns the channels of all people of the rotation, except addresses that every message goes to anyway. */
export const channelsOfPeople = (recipients: Recipients): Channel[] =>
  withoutCommon(
    (recipients.client.onCall?.rotation.people ?? []).flatMap((person) => channelsOfPerson(person, recipients)),
    recipients,
  )

function withoutCommon(channels: readonly Channel[], recipients: Recipients): Channel[] {
  const common = new Set(channelsOf(recipients).flatMap(addressesOf))
  const seen = new Set<string>()
  return channels.filter((channel) => {
    const all = addressesOf(channel)
    if (all.every((one) => common.has(one)) || seen.has(channel.address)) return false
    seen.add(channel.address)
    return true
  })
}

/** Narrows a stored key: only those that `channelsOf` makes are written. */
export const keyOf = (channel: string): ChannelKey => channel as ChannelKey

export const ownKey = (clientId: string, id: string): ChannelKey => `own:${clientId}:${id}`

/** Returns the id of the client that the channel belongs to; null for `global`. */
export const clientIdOf = (channel: ChannelKey): string | null => channel.split(':')[1] ?? null

/** Returns the id of a client's own channel; null for other channels. */
export const ownIdOf = (channel: ChannelKey): string | null => channel.split(':')[2] ?? null

/**
 * Returns the channel's current address, or null when it has none any more.
 *
 * @param client that the channel belongs to; undefined when it was deleted or is inactive
 */
export function addressNow(
  channel: ChannelKey,
  client: Recipients['client'] | undefined,
  { globalWebhook, isEmailOn }: ChannelSettings,
): string | null {
  if (channel === 'global') return globalWebhook
  if (client === undefined) return null
  const recipients = { client, globalWebhook, isEmailOn }
  const found = channelsOf(recipients).find(({ key }) => key === channel)
  if (found !== undefined) return found.address
  const people = client.onCall?.rotation.people ?? []
  return (
    people.flatMap((person) => channelsOfPerson(person, recipients)).find(({ key }) => key === channel)?.address ?? null
  )
}

export function kindOf(channel: ChannelKey, address: string): ServiceKind {
  if (channel.startsWith('email:') || !address.includes('://')) return 'email'
  const { service: named, url } = destinationOf(address)
  const service = named ?? serviceOf(url)
  return service === 'generic' ? 'webhook' : service
}

/**
 * Returns a channel's address as stored in `channels`. The address of `global` comes from the environment, whose secrets are never
 * stored: only its service and a hash are kept, which show when it has changed.
 */
export function storedAddress({ key, address }: Channel): string {
  if (key !== 'global') return address
  return `${kindOf(key, address)}:${createHash('sha256').update(address).digest('base64url')}`
}

/** Returns the service behind a stored address. */
export function storedKind(key: ChannelKey, stored: string): ServiceKind {
  if (key !== 'global') return kindOf(key, stored)
  return SERVICE_KINDS.find((kind) => stored.startsWith(`${kind}:`)) ?? 'webhook'
}

/** The state of a channel that was never tried. */
export const UNTRIED = {
  next_attempt_at: 0,
  failures: 0,
  failing_since: null,
  last_error: null,
  last_success_at: null,
  off_since: null,
} satisfies Partial<ChannelRow>

/** Records that a message has just got through to the address, which resets what was known about the channel. */
export async function noteSuccess({ write }: Store, channel: Channel, now: number): Promise<void> {
  const well = { address: storedAddress(channel), ...UNTRIED, last_success_at: now }
  await write
    .insertInto('channels')
    .values({ channel: channel.key, ...well })
    .onConflict((conflict) => conflict.column('channel').doUpdateSet(well))
    .execute()
}

/** Returns the keys (see `offKey`) of the channels that are off until someone fixes them. */
export async function offChannels(db: Kysely<Tables>): Promise<ReadonlySet<string>> {
  const rows = await db
    .selectFrom('channels')
    .select(['channel', 'address'])
    .where('off_since', 'is not', null)
    .execute()
  return new Set(rows.map(({ channel, address }) => offKey(channel, address)))
}

/** Returns whether messages about the client reach at least one channel that works. */
export const isReachable = (
  client: Recipients['client'],
  channelSettings: ChannelSettings,
  off: ReadonlySet<string>,
): boolean => {
  const recipients = { client, ...channelSettings }
  return [...channelsOf(recipients), ...channelsOfPeople(recipients)].some(isWorking(off))
}

/** Returns a predicate for channels that are not off until someone fixes them. */
export const isWorking =
  (off: ReadonlySet<string>) =>
  (channel: Channel): boolean =>
    !off.has(offKey(channel.key, storedAddress(channel)))

/** Holds the address, so that a channel that was edited since is not off. */
const offKey = (channel: string, address: string): string => `${channel} ${address}`

export interface FailingChannel {
  /** `e-mail of ACME: why` */
  words: string
  since: number
}

/** Returns the channels that have failed since before that time without being off, the longest first. */
export async function channelsFailingSince({ read }: Pick<Store, 'read'>, before: number): Promise<FailingChannel[]> {
  const channels = await read
    .selectFrom('channels')
    .select(['channel', 'address', 'last_error', 'failing_since'])
    .where('off_since', 'is', null)
    .where('failing_since', '<=', before)
    .orderBy('failing_since')
    .execute()
  const clients = new Map<string, Recipients['client'] & { name: string }>()
  const lead = new Map<string, string>()
  for (const ids of chunksOf(channels.flatMap(({ channel }) => clientIdOf(channel as ChannelKey) ?? []))) {
    const rows = await read
      .selectFrom('clients')
      .selectAll()
      .where('id', 'in', ids)
      .where('is_active', '=', 1)
      .execute()
    for (const client of await withChannels(read, rows)) {
      clients.set(client.id, client)
      const reached = { client, globalWebhook: null, isEmailOn: true }
      for (const { key, address } of [...channelsOf(reached), ...channelsOfPeople(reached)]) lead.set(key, address)
    }
  }
  // Channels that were edited or deleted since no longer fail, and may have no message that would show it.
  return channels
    .filter(({ channel, address }) => channel === 'global' || lead.get(channel) === address)
    .map(({ channel, last_error, failing_since }) => {
      const key = keyOf(channel)
      const words = `${inWords(key, clients.get(clientIdOf(key) ?? ''))}: ${last_error}`
      return { words, since: failing_since ?? before }
    })
}

/**
 * Returns how messages call a channel.
 *
 * @param client that it belongs to; undefined for `global`
 */
export function inWords(key: ChannelKey, client: (Recipients['client'] & { name: string }) | undefined): string {
  if (client === undefined) return 'the webhook for all clients'
  const { name, channels, onCall } = client
  const ownId = ownIdOf(key)
  if (ownId === null) return `${key.startsWith('email:') ? 'e-mail' : 'chat'} of ${name}`
  const own = channels.find(({ id }) => id === ownId)
  const person = onCall?.rotation.people.find(({ id }) => id === ownId)
  return own !== undefined ? `${quoted(own.name)} of ${name}` : `e-mail of ${person?.name ?? 'a person'} (${name})`
}
