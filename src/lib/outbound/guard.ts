import { addressConcern, parseAddress } from './address.ts'
import { allowsAddress, allowsHost, type OutboundAllow } from './allow.ts'
import { OutboundError } from './error.ts'
import type { IsOwnAddress } from './own-addresses.ts'

/** Names that mean something inside a machine, a network or a cloud only, whatever a DNS server says. */
const LOCAL_NAME = /(^|\.)(localhost|localdomain|local|internal|home\.arpa)$/

/**
 * Lets a request pass that goes to `host`, which leads to these addresses.
 *
 * One address of several that must not be reached refuses them all: a name that leads both outside and inside is an
 * attack or a mistake, and connecting to the rest would hide it, and make the outcome hang on the order of the answers.
 *
 * @throws OutboundError of kind `forbidden_address`
 */
export function requireAllowed(
  host: string,
  addresses: readonly string[],
  allow: OutboundAllow,
  isOwn: IsOwnAddress,
): void {
  if (allowsHost(allow, host)) return
  for (const text of addresses) {
    const concern = concernOf(host, text, allow, isOwn)
    if (concern !== null) {
      throw new OutboundError(
        'forbidden_address',
        `${host} leads to ${concern}, which must not be reached from here; OUTBOUND_ALLOW may except it`,
      )
    }
  }
}

function concernOf(host: string, text: string, allow: OutboundAllow, isOwn: IsOwnAddress): string | null {
  const address = parseAddress(text)
  if (address === null) return 'what is no address'
  if (allowsAddress(allow, address)) return null
  const concern = addressConcern(address) ?? (LOCAL_NAME.test(host) ? 'a name of the local network' : null)
  return concern ?? (isOwn(address) ? 'the machine itself or its network' : null)
}
