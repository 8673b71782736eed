import { maskedUrl } from '../../management/index.ts'
import { type ChannelKind, requireUrl } from './kind.ts'

/** Slack, Discord, Teams and Google Chat, told apart by the address. */
export const chat: ChannelKind = {
  title: 'Chat webhook',
  addressIs: 'the webhook of Slack, Discord, Microsoft Teams or Google Chat',
  takes: ['wait'],
  addressOf: ({ address }) => requireUrl('/address', address),
  shown: maskedUrl,
}
