import { areEmails } from '../../http/index.ts'
import { invalidRequest } from '../../lib/index.ts'
import type { ChannelKind } from './kind.ts'

export const email: ChannelKind = {
  title: 'E-mail',
  addressIs: 'up to 10 addresses with commas between them',
  takes: ['wait'],
  addressOf: ({ address }) => {
    if (!areEmails(address)) throw invalidRequest('/address', 'must be up to 10 e-mail addresses')
    return address
  },
  shown: (address) => address,
}
