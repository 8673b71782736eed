import { SECOND } from '../lib/index.ts'
import type { ChannelKey } from './channel.ts'
import { serviceOf } from './payloads.ts'

/** What stands at the other end of a channel: each wants messages in a shape and at a pace of its own. */
export const SERVICE_KINDS = ['slack', 'discord', 'teams', 'google_chat', 'webhook', 'email'] as const
export type ServiceKind = (typeof SERVICE_KINDS)[number]

export function kindOf(channel: ChannelKey, address: string): ServiceKind {
  if (channel.startsWith('email:')) return 'email'
  const service = serviceOf(address)
  return service === 'generic' ? 'webhook' : service
}

/**
 * Time between two messages of a channel, ms. Slack and Google Chat take one a second and webhook, Discord five in two seconds,
 * Teams four a second. A mail server says itself what is too much; one that gets mail in bursts may take it for spam.
 */
export const PACE_MS: Readonly<Record<ServiceKind, number>> = {
  slack: SECOND,
  discord: 500,
  teams: 300,
  google_chat: SECOND,
  webhook: 0,
  email: 200,
}
