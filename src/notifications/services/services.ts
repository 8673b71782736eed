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

/** The known chat services. A new one is a file and its line here. */
const CHAT_SERVICES = {
  slack,
  discord,
  teams,
  google_chat: googleChat,
}

/** Services that keep incidents of their own, reached by a key. */
const INCIDENT_SERVICES = { pagerduty, opsgenie }

/** All receivers of webhooks; `generic` is any that is no known service. */
const WEBHOOKS = { ...CHAT_SERVICES, ...INCIDENT_SERVICES, generic }
export type Service = keyof typeof WEBHOOKS
export const SERVICES = Object.keys(WEBHOOKS) as Service[]

export const definitionOf = (service: Service): ChatService => WEBHOOKS[service]

/** Kinds of receivers at the other end of a channel, as the API and the metrics name them. */
const KINDS = {
  ...CHAT_SERVICES,
  ...INCIDENT_SERVICES,
  webhook: generic,
  // A mail server says itself when it is too much, but may take mail in bursts for spam.
  email: { name: 'e-mail', paceMs: SECOND / 5 },
}
export type ServiceKind = keyof typeof KINDS
export const SERVICE_KINDS = Object.keys(KINDS) as ServiceKind[]

/** Returns the least time between two messages of a channel, ms. */
export const paceMsOf = (kind: ServiceKind): number => KINDS[kind].paceMs

/** Returns whether the service keeps incidents of its own: each incident is one there, and it gets nothing else. */
export const isForIncidents = (kind: ServiceKind): boolean => kind in INCIDENT_SERVICES

/** Returns whether a service gets a kind of message: only services that keep incidents of their own learn who has acknowledged one. */
export function takesMessage(kind: ServiceKind, message: string): boolean {
  const handled = HANDLED.find((one) => one === message)
  if (handled === undefined) return true
  const follows = kind === 'email' ? [] : definitionOf(kind === 'webhook' ? 'generic' : kind).follows
  return follows?.includes(handled) ?? false
}

/** Returns whether people read it, who should not get too many messages; machines get each one at once. */
export const isForPeople = (kind: ServiceKind): boolean => kind === 'email' || kind in CHAT_SERVICES

/** Returns whether a message changes an earlier one instead of being one of its own. */
export const isEdit = (kind: ServiceKind, message: string): boolean =>
  kind in CHAT_SERVICES && (definitionOf(kind as Service).edits?.kinds.some((one) => one === message) ?? false)

export const isChat = (kind: ServiceKind): boolean => kind in CHAT_SERVICES

export const serviceName = (kind: ServiceKind): string => KINDS[kind].name

/** Returns the service that an address belongs to, by the host that will be connected to; `generic` also for what is no URL. */
export function serviceOf(address: string): Service {
  const url = URL.parse(address)
  if (url === null || !/^https?:$/.test(url.protocol)) return 'generic'
  const host = url.hostname.replace(/\.$/, '')
  return SERVICES.find((service) => definitionOf(service).matches(host, url.pathname)) ?? 'generic'
}

/** Returns the body of the request that sends a message to a service, as an object. */
export const payloadOf = (service: Service, message: Message | MessageGroup, options: BodyOptions): object =>
  definitionOf(service).body(message, options)

/** Returns the body as JSON text. Lone surrogates, which JSON can only write as an escape that many readers refuse, are replaced. */
export const bodyOf = (service: Service, message: Message | MessageGroup, options: BodyOptions): string =>
  JSON.stringify(payloadOf(service, message, options), (_key, value: unknown) =>
    typeof value === 'string' ? value.toWellFormed() : value,
  )

/**
 * The parts of an address. An address that names its service and holds a secret is written `pagerduty+https://host/path#key`, so
 * that it is one text wherever it is kept, compared or passed on. The fragment is never sent.
 */
export interface Destination {
  /** Null when the URL decides. */
  service: Service | null
  url: string
  /** A key, or the secret that signs requests; null without one. */
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
