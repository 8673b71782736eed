import { maskedUrl } from '../../management/index.ts'
import { addressFor, destinationOf } from '../services/destination.ts'
import { type ChannelKind, requireUrl } from './kind.ts'

/** Whatever takes JSON, signed with a secret of its own. */
export const webhook: ChannelKind = {
  title: 'Webhook',
  addressIs: 'the address that takes JSON as Alertmanager sends it',
  takes: ['secret'],
  addressOf: ({ address, secret }) => addressFor('generic', requireUrl('/address', address), secret),
  shown: (address) => maskedUrl(destinationOf(address).url),
}
