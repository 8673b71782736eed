import type { BatchOperation } from '../store/index.ts'
import { type ChannelKey, clientIdOf } from './channel.ts'
import { type ServiceKind, serviceName } from './services/services.ts'

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

/** `Slack`, `e-mail`, `the webhook for all clients`. */
export const channelInWords = ({ channel, service }: Pick<DeliveredMessage, 'channel' | 'service'>): string =>
  `${serviceName(service)}${clientIdOf(channel) === null ? ' for all clients' : ''}`
