import type { CreateOwnChannel, OwnChannelRecord, UpdateOwnChannel } from '../../api/channels.ts'

export type Kind = OwnChannelRecord['kind']

interface KindWords {
  title: string
  /** The label of its address, and the help below it. */
  address: string
  help: string
  /** Whether people read it, so that warnings may wait. */
  isForPeople: boolean
  /** The additional field that it has. */
  extra: 'secret' | 'endpoint' | null
}

export const KINDS: Readonly<Record<Kind, KindWords>> = {
  chat: {
    title: 'Chat webhook',
    address: 'Webhook',
    help: 'Of Slack, Discord, Microsoft Teams or Google Chat',
    isForPeople: true,
    extra: null,
  },
  email: {
    title: 'E-mail',
    address: 'E-mail addresses',
    help: 'Up to 10, separated by commas',
    isForPeople: true,
    extra: null,
  },
  pagerduty: {
    title: 'PagerDuty',
    address: 'Integration key',
    help: 'Of an Events API v2 integration',
    isForPeople: false,
    extra: 'endpoint',
  },
  opsgenie: {
    title: 'Jira Service Management, Opsgenie',
    address: 'API key',
    help: 'Of an API integration',
    isForPeople: false,
    extra: 'endpoint',
  },
  webhook: {
    title: 'Webhook',
    address: 'Address',
    help: 'Receives JSON as Alertmanager sends it',
    isForPeople: false,
    extra: 'secret',
  },
}

/** The values of a channel's form. */
export interface ChannelValues {
  kind: Kind
  name: string
  /** Empty to keep the address of an existing channel. */
  address: string
  secret: string
  endpoint: string
  minimum_severity: OwnChannelRecord['minimum_severity']
  /** Empty for the service's default. */
  warnings_after_minutes: number | ''
  is_active: boolean
}

const EMPTY: ChannelValues = {
  kind: 'chat',
  name: '',
  address: '',
  secret: '',
  endpoint: '',
  minimum_severity: 'warning',
  warnings_after_minutes: '',
  is_active: true,
}

/** @param channel the one to edit; null for a new one */
export const channelValues = (channel: OwnChannelRecord | null): ChannelValues =>
  channel === null
    ? EMPTY
    : {
        ...EMPTY,
        kind: channel.kind,
        name: channel.name,
        minimum_severity: channel.minimum_severity,
        warnings_after_minutes: channel.warnings_after_minutes ?? '',
        is_active: channel.is_active,
      }

/** The body of the API call. An empty address stays as it is; a secret without an address is sent, so that the service refuses it. */
export function channelBody(values: ChannelValues, isNew: boolean): CreateOwnChannel | UpdateOwnChannel {
  const { kind, name, address, secret, endpoint, minimum_severity, warnings_after_minutes: wait, is_active } = values
  const { extra, isForPeople } = KINDS[kind]
  return {
    ...(isNew && { kind }),
    name,
    minimum_severity,
    ...(isForPeople && { warnings_after_minutes: wait === '' ? null : wait }),
    is_active,
    ...((isNew || address.trim() !== '') && { address: address.trim() }),
    ...(extra === 'secret' && secret !== '' && { secret }),
    ...(extra === 'endpoint' && endpoint.trim() !== '' && { endpoint: endpoint.trim() }),
  }
}
