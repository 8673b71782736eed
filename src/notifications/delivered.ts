import type { BatchOperation } from '../store/index.ts'
import { type ChannelKey, clientIdOf } from './channel.ts'
import type { ServiceKind } from './service-kind.ts'

/** A message about an alert that has reached someone. */
export interface DeliveredMessage {
  alertId: string
  kind: string
  channel: ChannelKey
  service: ServiceKind
  /** Epoch ms. */
  at: number
}

/** What else is written when messages about alerts were delivered: in the same transaction, and maybe twice. */
export type DeliveredHook = (delivered: readonly DeliveredMessage[]) => readonly BatchOperation[]

const SERVICES: Readonly<Record<ServiceKind, string>> = {
  slack: 'Slack',
  discord: 'Discord',
  teams: 'Teams',
  google_chat: 'Google Chat',
  webhook: 'the webhook',
  email: 'e-mail',
}

/** `Slack`, `e-mail`, `the webhook for all clients`. */
export const channelInWords = ({ channel, service }: Pick<DeliveredMessage, 'channel' | 'service'>): string =>
  `${SERVICES[service]}${clientIdOf(channel) === null ? ' for all clients' : ''}`
