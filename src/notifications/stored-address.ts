import { createHash } from 'node:crypto'
import type { Channel, ChannelKey } from './channel.ts'
import { kindOf, SERVICE_KINDS, type ServiceKind } from './service-kind.ts'

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
