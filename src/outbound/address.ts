import { isIP } from 'node:net'
import { type NetworkInterfaceInfo, networkInterfaces } from 'node:os'
import ipaddr from 'ipaddr.js'
import { SECOND } from '../lib/index.ts'
import { OutboundError } from './error.ts'

export type Address = ReturnType<typeof ipaddr.parse>

/** The range of global unicast addresses: all other IPv6 is unassigned or special. */
const IPV6_GLOBAL = ipaddr.IPv6.parseCIDR('2000::/3')
/** The prefix by which IPv6-only networks reach IPv4 (RFC 6052). */
const NAT64 = ipaddr.IPv6.parseCIDR('64:ff9b::/96')
/** Azure's platform serves its machines at this address, although it is a public one. */
const AZURE_PLATFORM = '168.63.129.16'

const WORDS: Readonly<Record<string, string>> = {
  loopback: 'the machine itself',
  unspecified: 'the machine itself',
  private: 'a private network',
  uniqueLocal: 'a private network',
  carrierGradeNat: 'a private network',
  linkLocal: 'the local network',
  multicast: 'many machines at once',
  broadcast: 'many machines at once',
}

/**
 * Parses an address as resolvers and URLs write it, or returns null. One with a zone (`fe80::1%eth0`) is refused, as it only
 * means something on the local network.
 */
export function parseAddress(text: string): Address | null {
  const family = isIP(text)
  if (family === 4) return ipaddr.IPv4.parse(text)
  if (family === 0 || text.includes('%')) return null
  // In the URL's spelling, which is what is connected to: ipaddr.js alone takes ::8.8.8.8 for ::ffff:8.8.8.8.
  return ipaddr.IPv6.parse(new URL(`http://[${text}]`).hostname.slice(1, -1))
}

/**
 * The IPv4 address that a connection to this one really reaches: the kernel unwraps mapped addresses, a NAT64 gateway its own.
 * 6to4, Teredo and deprecated forms are not unwrapped, because none of them is allowed at all.
 */
export function reachedAddress(address: Address): Address {
  if (!(address instanceof ipaddr.IPv6)) return address
  if (address.isIPv4MappedAddress()) return address.toIPv4Address()
  return address.match(NAT64) ? new ipaddr.IPv4(address.toByteArray().slice(12)) : address
}

/** Why this address must not be reached, as "leads to …"; null for a public address. */
export function addressConcern(address: Address): string | null {
  const reached = reachedAddress(address)
  if (reached.toString() === AZURE_PLATFORM) return 'the platform that this server runs on'
  const range = reached.range()
  if (range !== 'unicast') return WORDS[range] ?? 'a reserved address'
  if (reached instanceof ipaddr.IPv6 && !reached.match(IPV6_GLOBAL)) return 'a reserved address'
  return null
}

/** The interfaces of this machine, as from `os.networkInterfaces`. */
export type ListInterfaces = () => NodeJS.Dict<NetworkInterfaceInfo[]>

/** Whether an address is this machine's own, or in one of its IPv6 networks. */
export type IsOwnAddress = (address: Address) => boolean

/** Addresses change while the process runs: networks are renumbered, and IPv6 addresses last a day. */
const READ_AGAIN_MS = 10 * SECOND

/** A shorter prefix is not the machine's network but its whole provider's: then only the address itself is refused. */
const SHORTEST_PREFIX = 48

/**
 * Knows the machine's own public addresses. A service that listens there for its owner alone, or trusts callers from there, is as
 * internal as one at 127.0.0.1. The list is at most ten seconds old. An address that only a router has, which forwards what it
 * receives, is on no interface and is not known here.
 */
export function ownAddresses(
  list: ListInterfaces = networkInterfaces,
  now: () => number = () => performance.now(),
): IsOwnAddress {
  let readAt = Number.NEGATIVE_INFINITY
  let networks: readonly (readonly [address: Address, bits: number])[] = []
  return (address) => {
    if (now() - readAt >= READ_AGAIN_MS) {
      networks = networksOf(listed(list))
      readAt = now()
    }
    const reached = reachedAddress(address)
    return networks.some(([own, bits]) => own.kind() === reached.kind() && reached.match(own, bits))
  }
}

/** Whether an interface has a public IPv6 address. */
export const hasIpv6 = (list: ListInterfaces = networkInterfaces): boolean =>
  networksOf(listed(list)).some(([address]) => address instanceof ipaddr.IPv6 && address.match(IPV6_GLOBAL))

/**
 * @throws OutboundError `interrupted`: this machine refused the list, which is not the other end's fault, and without it no
 * address is allowed
 */
function listed(list: ListInterfaces): ReturnType<ListInterfaces> {
  try {
    return list()
  } catch (cause) {
    throw new OutboundError('interrupted', "this machine's own addresses could not be listed (systemd: AF_NETLINK)", {
      cause,
    })
  }
}

const networksOf = (interfaces: ReturnType<ListInterfaces>) =>
  Object.values(interfaces).flatMap((entries = []) =>
    entries.flatMap(({ address: text, cidr }) => {
      const address = parseAddress(text)
      if (address === null) return []
      if (address.kind() === 'ipv4') return [[address, 32] as const]
      const bits = Number(cidr?.split('/')[1])
      return [[address, bits >= SHORTEST_PREFIX ? bits : 128] as const]
    }),
  )
