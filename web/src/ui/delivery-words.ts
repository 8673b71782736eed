import type { ChannelRecord, DeliveryRecord } from '../api/channels.ts'
import type { Status } from '../api/overview.ts'

/** Names of what stands at the other end. */
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

/** "Slack", "Webhook of every client": what a message went over. */
export function channelName({ channel, service }: Pick<DeliveryRecord, 'channel' | 'service'>): string {
  const name = service === null ? 'A deleted channel' : SERVICE_NAMES[service]
  return channel === 'global' ? `${name} of every client` : name
}

/** What to edit when a channel is refused permanently, by where its address stands: "edit the client's webhook". */
export function mendOfChannel(channel: string): string {
  if (channel === 'global') return 'set another CHAT_WEBHOOK_URL'
  if (channel.startsWith('own:')) return 'edit the address of the channel'
  return `edit the client's ${channel.startsWith('email:') ? 'e-mail address' : 'webhook'}`
}

/** The mark of a message. One that was cancelled is no failure, and one that was not tried yet nothing to worry about. */
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

/** A message is on its way for so long while others of its outage are awaited. */
const ON_ITS_WAY_MS = 30_000

/** Whether a message is kept back on purpose, and until when, epoch ms; null: it is not. */
export function heldUntil(
  { state, attempts, not_before }: Pick<DeliveryRecord, 'state' | 'attempts' | 'not_before'>,
  now: number,
): number | null {
  const due = Date.parse(not_before)
  return state === 'pending' && attempts === 0 && due > now + ON_ITS_WAY_MS ? due : null
}
