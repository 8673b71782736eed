import { createHash } from 'node:crypto'
import { SERVICE_KINDS, type ServiceKind, serviceOf } from './services/services.ts'

/** A way to reach people: `global` for everything, or a client's own chat webhook or e-mail. */
export type ChannelKey = 'global' | `chat:${string}` | `email:${string}`

/** The addresses a message about a client goes to. */
export interface Recipients {
  client: { id: string; chat_webhook: string | null; email: string | null }
  /** `CHAT_WEBHOOK_URL`. */
  globalWebhook: string | null
  /** Without `SMTP_URL` nothing can be sent by e-mail, and nothing is kept for it. */
  isEmailOn: boolean
}

/** Where messages go besides the addresses of the clients. */
export type Reach = Omit<Recipients, 'client'>

export interface Channel {
  key: ChannelKey
  address: string
}

/** Every channel that reaches the recipients; an address that occurs twice gets one message. */
export function channelsOf({ client, globalWebhook, isEmailOn }: Recipients): Channel[] {
  const channels: Channel[] = []
  if (globalWebhook !== null) channels.push({ key: 'global', address: globalWebhook })
  if (client.chat_webhook !== null && client.chat_webhook !== globalWebhook) {
    channels.push({ key: `chat:${client.id}`, address: client.chat_webhook })
  }
  if (client.email !== null && isEmailOn) channels.push({ key: `email:${client.id}`, address: client.email })
  return channels
}

/** A channel's key as the store has it: only what `channelsOf` makes gets there. */
export const keyOf = (channel: string): ChannelKey => channel as ChannelKey

/** The client whose own channel it is; null for `global`. */
export const clientIdOf = (channel: ChannelKey): string | null =>
  channel === 'global' ? null : channel.slice(channel.indexOf(':') + 1)

/**
 * Where the channel leads at present; null when it leads nowhere any more.
 *
 * @param client whose own channel it is; undefined when it was deleted or is inactive
 */
export function addressNow(
  channel: ChannelKey,
  client: Recipients['client'] | undefined,
  { globalWebhook, isEmailOn }: Reach,
): string | null {
  if (channel === 'global') return globalWebhook
  if (client === undefined) return null
  return channelsOf({ client, globalWebhook, isEmailOn }).find(({ key }) => key === channel)?.address ?? null
}

export function kindOf(channel: ChannelKey, address: string): ServiceKind {
  if (channel.startsWith('email:')) return 'email'
  const service = serviceOf(address)
  return service === 'generic' ? 'webhook' : service
}

/**
 * A channel's address as `channels` holds it. That of `global` comes from the environment, whose secrets are never stored: what
 * stays is which service it is, and a hash that tells another address apart.
 */
export function storedAddress({ key, address }: Channel): string {
  if (key !== 'global') return address
  return `${kindOf(key, address)}:${createHash('sha256').update(address).digest('base64url')}`
}

/** The service behind a stored address. */
export function storedKind(key: ChannelKey, stored: string): ServiceKind {
  if (key !== 'global') return kindOf(key, stored)
  return SERVICE_KINDS.find((kind) => stored.startsWith(`${kind}:`)) ?? 'webhook'
}
