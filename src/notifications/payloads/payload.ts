import type { Message, MessageGroup } from '../message.ts'
import { cardOf } from './card-of.ts'
import { discordPayload } from './discord.ts'
import { type GenericOptions, genericPayload } from './generic.ts'
import { googleChatPayload } from './google-chat.ts'
import type { Service } from './service.ts'
import { slackPayload } from './slack.ts'
import { teamsPayload } from './teams.ts'

/** The body of the request that sends a message to a service, as JSON. */
export function payloadOf(service: Service, message: Message | MessageGroup, options: GenericOptions): object {
  switch (service) {
    case 'slack':
      return slackPayload(cardOf(message, options))
    case 'discord':
      return discordPayload(cardOf(message, options), options)
    case 'teams':
      return teamsPayload(cardOf(message, options))
    case 'google_chat':
      return googleChatPayload(cardOf(message, options))
    case 'generic':
      return genericPayload(message, options)
  }
}

/** As it goes over the wire: half a character, which JSON could only write as an escape that many readers refuse, is replaced. */
export const bodyOf = (service: Service, message: Message | MessageGroup, options: GenericOptions): string =>
  JSON.stringify(payloadOf(service, message, options), (_key, value: unknown) =>
    typeof value === 'string' ? value.toWellFormed() : value,
  )
