import { addressFor, destinationOf } from '../services/destination.ts'
import { type ChannelKind, maskedKey, otherThan, requireKey, requireUrl } from './kind.ts'

/** That of the European service region is https://events.eu.pagerduty.com/v2/enqueue. */
const EVENTS = 'https://events.pagerduty.com/v2/enqueue'

export const pagerduty: ChannelKind = {
  title: 'PagerDuty',
  addressIs: 'the integration key of an Events API v2 integration',
  takes: ['endpoint'],
  addressOf: ({ address, endpoint }) =>
    addressFor('pagerduty', requireUrl('/endpoint', endpoint ?? EVENTS), requireKey(address)),
  shown: (address) => maskedKey(destinationOf(address).credential),
  endpointOf: (address) => otherThan(EVENTS, destinationOf(address).url),
}
