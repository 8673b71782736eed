import { addressFor, destinationOf } from '../services/destination.ts'
import { type ChannelKind, maskedKey, otherThan, requireKey, requireUrl } from './kind.ts'

/** Opsgenie itself is https://api.opsgenie.com, in Europe https://api.eu.opsgenie.com. */
const JIRA = 'https://api.atlassian.com/jsm/ops/integration'

export const opsgenie: ChannelKind = {
  title: 'Jira Service Management',
  addressIs: 'the API key of an API integration of Jira Service Management or Opsgenie',
  takes: ['endpoint'],
  addressOf: ({ address, endpoint }) =>
    addressFor('opsgenie', requireUrl('/endpoint', endpoint ?? JIRA), requireKey(address)),
  shown: (address) => maskedKey(destinationOf(address).credential),
  endpointOf: (address) => otherThan(JIRA, destinationOf(address).url),
}
