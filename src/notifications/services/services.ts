import { SECOND } from '../../lib/index.ts'
import type { Message, MessageGroup } from '../message.ts'
import { discord } from './discord.ts'
import { generic } from './generic.ts'
import { googleChat } from './google-chat.ts'
import { opsgenie } from './opsgenie.ts'
import { pagerduty } from './pagerduty.ts'
import { type BodyOptions, type ChatService, HANDLED } from './service.ts'
import { slack } from './slack.ts'
import { teams } from './teams.ts'

/** The chat services that are known here. Adding one is its file and its line. */
const CHAT_SERVICES = {
  slack,
  discord,
  teams,
  google_chat: googleChat,
}

/** What keeps incidents of its own, reached by a key. */
const INCIDENT_SERVICES = { pagerduty, opsgenie }

/** Who takes a webhook; `generic` is everybody who is no chat service that is known here. */
const WEBHOOKS = { ...CHAT_SERVICES, ...INCIDENT_SERVICES, generic }
export type Service = keyof typeof WEBHOOKS
export const SERVICES = Object.keys(WEBHOOKS) as Service[]

export const definitionOf = (service: Service): ChatService => WEBHOOKS[service]

/** What is at the other end of a channel, as the API and the metrics name it. */
const KINDS = {
  ...CHAT_SERVICES,
  ...INCIDENT_SERVICES,
  webhook: generic,
  // A mail server says itself what is too much; one that gets mail in bursts may take it for spam.
  email: { name: 'e-mail', paceMs: SECOND / 5 },
}
export type ServiceKind = keyof typeof KINDS
export const SERVICE_KINDS = Object.keys(KINDS) as ServiceKind[]

/** The least time between two messages of a channel, ms. */
export const paceMsOf = (kind: ServiceKind): number => KINDS[kind].paceMs

/** Whether each incident is one of its own there, and it gets nothing else. */
export const isForIncidents = (kind: ServiceKind): boolean => kind in INCIDENT_SERVICES

/** Whether it is notified of that: only what keeps incidents of its own learns who takes care of one. */
export function takesMessage(kind: ServiceKind, message: string): boolean {
  const handled = HANDLED.find((one) => one === message)
  if (handled === undefined) return true
  const follows = kind === 'email' ? [] : definitionOf(kind === 'webhook' ? 'generic' : kind).follows
  return follows?.includes(handled) ?? false
}

/** Whether people read it, whom too many messages tire; what machines read gets each at once. */
export const isForPeople = (kind: ServiceKind): boolean => kind === 'email' || kind in CHAT_SERVICES

/** Whether a message takes the place of what was said before, and is none of its own. */
export const isEdit = (kind: ServiceKind, message: string): boolean =>
  kind in CHAT_SERVICES && (definitionOf(kind as Service).edits?.kinds.some((one) => one === message) ?? false)

export const isChat = (kind: ServiceKind): boolean => kind in CHAT_SERVICES

export const serviceName = (kind: ServiceKind): string => KINDS[kind].name

/** Which service an address belongs to, by its host as it will be connected to; what is no address is generic too. */
export function serviceOf(address: string): Service {
  const url = URL.parse(address)
  if (url === null || !/^https?:$/.test(url.protocol)) return 'generic'
  const host = url.hostname.replace(/\.$/, '')
  return SERVICES.find((service) => definitionOf(service).matches(host, url.pathname)) ?? 'generic'
}

/** The body of the request that sends a message to a service, as JSON. */
export const payloadOf = (service: Service, message: Message | MessageGroup, options: BodyOptions): object =>
  definitionOf(service).body(message, options)

/** As it goes over the wire: half a character, which JSON could only write as an escape that many readers refuse, is replaced. */
export const bodyOf = (service: Service, message: Message | MessageGroup, options: BodyOptions): string =>
  JSON.stringify(payloadOf(service, message, options), (_key, value: unknown) =>
    typeof value === 'string' ? value.toWellFormed() : value,
  )

/**
 * Where an address leads. One that a service is named for, with what only it may know, is written `pagerduty+https://host/path#key`:
 * so an address is one text wherever it is kept, compared or handed on. Fragments never leave this program.
 */
export interface Destination {
  /** Null: whichever takes that address. */
  service: Service | null
  url: string
  /** A key, or what signs requests; null where there is none. */
  credential: string | null
}

export function destinationOf(address: string): Destination {
  const service = SERVICES.find((known) => address.startsWith(`${known}+`))
  if (service === undefined) return { service: null, url: address, credential: null }
  const [url = '', credential] = address.slice(service.length + 1).split('#')
  return { service, url, credential: credential === undefined ? null : decodeURIComponent(credential) }
}

export const addressFor = (service: Service, url: string, credential: string | null): string =>
  `${service}+${url.split('#')[0]}${credential === null ? '' : `#${encodeURIComponent(credential)}`}`
