import type { ChannelRecord, DeliveryRecord } from '../api/channels.ts'
import type { Status } from '../api/overview.ts'

/** The names of the services behind channels. */
export const SERVICE_NAMES: Readonly<Record<ChannelRecord['kind'], string>> = {
  slack: 'Slack',
  discord: 'Discord',
  teams: 'Microsoft Teams',
  google_chat: 'Google Chat',
  pagerduty: 'PagerDuty',
  opsgenie: 'Jira Service Management',
  webhook: 'Webhook',
  email: 'E-mail',
}

/** The channel of a message: "Slack", "Webhook of every client". */
export function channelName({ channel, service }: Pick<DeliveryRecord, 'channel' | 'service'>): string {
  const name = service === null ? 'A deleted channel' : SERVICE_NAMES[service]
  return channel === 'global' ? `${name} of every client` : name
}

/** How to fix a channel that is refused permanently, by where its address is set: "edit the client's webhook". */
export function mendOfChannel(channel: string): string {
  if (channel === 'global') return 'set another CHAT_WEBHOOK_URL'
  if (channel.startsWith('own:')) return 'edit the address of the channel'
  return `edit the client's ${channel.startsWith('email:') ? 'e-mail address' : 'webhook'}`
}

/** The status mark of a message. A cancelled one is no failure, and one not tried yet needs no attention. */
export function deliveryStatus({ state, attempts }: Pick<DeliveryRecord, 'state' | 'attempts'>): Status {
  switch (state) {
    case 'delivered':
      return 'ok'
    case 'pending':
      return attempts === 0 ? 'unknown' : 'warning'
    case 'failed':
      return 'critical'
    case 'cancelled':
      return 'unknown'
  }
}

/** Messages are delayed this long to wait for others of the same outage, which does not count as held. */
const ON_ITS_WAY_MS = 30_000

/** Until when a message is held on purpose, epoch ms; null when it is not. */
export function heldUntil(
  { state, attempts, not_before }: Pick<DeliveryRecord, 'state' | 'attempts' | 'not_before'>,
  now: number,
): number | null {
  const due = Date.parse(not_before)
  return state === 'pending' && attempts === 0 && due > now + ON_ITS_WAY_MS ? due : null
}
