import { isIP } from 'node:net'
import { domainToASCII } from 'node:url'
import { type Address, addressConcern, type IsOwnAddress, parseAddress, reachedAddress } from './address.ts'
import { OutboundError } from './error.ts'

/** What may be reached although it is not public. */
export interface OutboundAllow {
  ranges: readonly AddressRange[]
  /** Lower-cased and in ASCII; any address of such a name may be reached. */
  hosts: readonly string[]
}

type AddressRange = readonly [address: Address, bits: number]

const ALLOWED = 'host names, addresses and CIDR ranges separated by commas (10.0.0.0/8,127.0.0.1,status.internal)'

/**
 * Parses a list such as `10.0.0.0/8,127.0.0.1,status.internal`; undefined and empty allow nothing.
 *
 * @throws Error naming the first invalid entry
 */
export function parseOutboundAllow(text: string | undefined): OutboundAllow {
  const ranges: AddressRange[] = []
  const hosts: string[] = []
  for (const entry of (text ?? '').split(',').map((part) => part.trim())) {
    if (entry === '') continue
    const range = rangeOf(entry)
    const host = range === null ? hostOf(entry) : null
    if (range !== null) ranges.push(range)
    else if (host !== null) hosts.push(host)
    else throw new Error(`must be ${ALLOWED}: ${JSON.stringify(entry)} is none of them`)
  }
  return { ranges, hosts }
}

/** The text that `parseOutboundAllow` parses to the same list. */
export const formatOutboundAllow = ({ ranges, hosts }: OutboundAllow): string =>
  [...ranges.map(([address, bits]) => `${address}/${bits}`), ...hosts].join()

function rangeOf(entry: string): AddressRange | null {
  const [base = '', prefix, ...rest] = entry.split('/')
  const address = parseAddress(base)
  if (address === null || rest.length > 0) return null
  const most = address.kind() === 'ipv4' ? 32 : 128
  if (prefix === undefined) return [address, most]
  return /^\d{1,3}$/.test(prefix) && Number(prefix) <= most ? [address, Number(prefix)] : null
}

/** Null for what would not stay the same as the host of a URL: with a port, a wildcard, or `127.1`, which is an address. */
function hostOf(entry: string): string | null {
  const written = withoutRootDot(entry.toLowerCase())
  if (!/^[\p{L}\p{N}_-]+(\.[\p{L}\p{N}_-]+)*$/u.test(written)) return null
  const host = domainToASCII(written)
  return host === '' || isIP(host) !== 0 ? null : host
}

/** `host.` and `host` are the same machine: the dot only marks the name as complete. */
export const withoutRootDot = (host: string): string => host.replace(/\.$/, '')

const allowsHost = (allow: OutboundAllow, host: string): boolean => allow.hosts.includes(host)

function allowsAddress(allow: OutboundAllow, address: Address): boolean {
  const forms = [address, reachedAddress(address)]
  return allow.ranges.some(([base, bits]) =>
    forms.some((form) => form.kind() === base.kind() && form.match(base, bits)),
  )
}

/** Names that only have a meaning inside a machine, a network or a cloud, whatever a DNS server says. */
const LOCAL_NAME = /(^|\.)(localhost|localdomain|local|internal|home\.arpa)$/

/**
 * Checks that a request may go to `host`, which leads to these addresses.
 *
 * A single forbidden address refuses them all. A name that leads both outside and inside is an attack or a mistake; connecting to
 * the rest would hide it, and make the outcome depend on the order of the answers.
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
        `${host} points to ${concern}, which must not be reached from here: to allow it, add it to OUTBOUND_ALLOW`,
      )
    }
  }
}

function concernOf(host: string, text: string, allow: OutboundAllow, isOwn: IsOwnAddress): string | null {
  const address = parseAddress(text)
  if (address === null) return 'something that is not an address'
  if (allowsAddress(allow, address)) return null
  const concern = addressConcern(address) ?? (LOCAL_NAME.test(host) ? 'a name of the local network' : null)
  return concern ?? (isOwn(address) ? 'the machine itself or its network' : null)
}
