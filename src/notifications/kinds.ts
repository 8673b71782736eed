import { areEmails, isHttpUrl } from '../http/index.ts'
import { invalidRequest } from '../lib/index.ts'
import { maskedUrl } from '../management/index.ts'
import { addressFor, destinationOf } from './services/services.ts'

/** What a person enters for a channel. */
interface ChannelInput {
  address: string
  secret: string | null
  endpoint: string | null
}

/** Everything particular to a kind of channel that a client may have. A new kind is one object here and its entry in `KINDS`. */
interface ChannelKind {
  /** For people: `PagerDuty`. */
  title: string
  /** What `address` is, in a few words. */
  addressIs: string
  /** Which other fields it takes, and whether warnings may wait on it, which they may where people read it. */
  takes: readonly ('secret' | 'endpoint' | 'wait')[]
  /**
   * Returns the input as one text, see `destinationOf`.
   *
   * @throws AppError `invalid_request`
   */
  addressOf: (input: ChannelInput) => string
  /** The part of the address that may be shown to those who may see addresses. */
  shown: (address: string) => string
  /** The `endpoint` that was given, or null for the usual one; only for kinds that take one. */
  endpointOf?: (address: string) => string | null
}

/** @throws AppError `invalid_request` naming the field */
function requireUrl(field: string, text: string): string {
  if (!isHttpUrl(text)) throw invalidRequest(field, 'must be an address like https://hooks.example.com/services/…')
  return text
}

/** @throws AppError `invalid_request` */
function requireKey(text: string): string {
  if (!/^[\w-]{8,200}$/.test(text)) throw invalidRequest('/address', 'must be a key of 8 to 200 letters and digits')
  return text
}

/** Shows enough to tell keys apart. */
const maskedKey = (key: string | null): string => (key === null ? '…' : `…${key.slice(-4)}`)

/** Returns null for the usual endpoint. */
const otherThan = (usual: string, endpoint: string): string | null => (endpoint === usual ? null : endpoint)

/** Slack, Discord, Teams and Google Chat, told apart by the address. */
const chat: ChannelKind = {
  title: 'Chat webhook',
  addressIs: 'the webhook of Slack, Discord, Microsoft Teams or Google Chat',
  takes: ['wait'],
  addressOf: ({ address }) => requireUrl('/address', address),
  shown: maskedUrl,
}

const email: ChannelKind = {
  title: 'E-mail',
  addressIs: 'up to 10 addresses, separated by commas',
  takes: ['wait'],
  addressOf: ({ address }) => {
    if (!areEmails(address)) throw invalidRequest('/address', 'must be up to 10 e-mail addresses')
    return address
  },
  shown: (address) => address,
}

/** The European service region uses https://events.eu.pagerduty.com/v2/enqueue. */
const EVENTS = 'https://events.pagerduty.com/v2/enqueue'

const pagerduty: ChannelKind = {
  title: 'PagerDuty',
  addressIs: 'the integration key of an Events API v2 integration',
  takes: ['endpoint'],
  addressOf: ({ address, endpoint }) =>
    addressFor('pagerduty', requireUrl('/endpoint', endpoint ?? EVENTS), requireKey(address)),
  shown: (address) => maskedKey(destinationOf(address).credential),
  endpointOf: (address) => otherThan(EVENTS, destinationOf(address).url),
}

/** Opsgenie itself uses https://api.opsgenie.com, in Europe https://api.eu.opsgenie.com. */
const JIRA = 'https://api.atlassian.com/jsm/ops/integration'

const opsgenie: ChannelKind = {
  title: 'Jira Service Management',
  addressIs: 'the API key of an API integration of Jira Service Management or Opsgenie',
  takes: ['endpoint'],
  addressOf: ({ address, endpoint }) =>
    addressFor('opsgenie', requireUrl('/endpoint', endpoint ?? JIRA), requireKey(address)),
  shown: (address) => maskedKey(destinationOf(address).credential),
  endpointOf: (address) => otherThan(JIRA, destinationOf(address).url),
}

/** Any receiver of JSON; bodies are signed with the channel's secret. */
const webhook: ChannelKind = {
  title: 'Webhook',
  addressIs: 'the address that accepts JSON as Alertmanager sends it',
  takes: ['secret'],
  addressOf: ({ address, secret }) => addressFor('generic', requireUrl('/address', address), secret),
  shown: (address) => maskedUrl(destinationOf(address).url),
}

/** The kinds of channels that a client may have. */
const KINDS = { chat, email, pagerduty, opsgenie, webhook }
export type KindName = keyof typeof KINDS
export const KIND_NAMES = Object.keys(KINDS) as KindName[]

export const channelKind = (name: KindName): ChannelKind => KINDS[name]

/** The column is text, and a later version may know more kinds: they are shown as webhooks. */
export const kindNameOf = (text: string): KindName => KIND_NAMES.find((known) => known === text) ?? 'webhook'
