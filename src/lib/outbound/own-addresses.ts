import { type NetworkInterfaceInfo, networkInterfaces } from 'node:os'
import { SECOND } from '../clock.ts'
import { type Address, parseAddress, reachedAddress } from './address.ts'

/** The interfaces of this machine, as `os.networkInterfaces` lists them. */
export type ListInterfaces = () => NodeJS.Dict<NetworkInterfaceInfo[]>

/** Whether an address is this machine's own, or in one of its IPv6 networks. */
export type IsOwnAddress = (address: Address) => boolean

/** Addresses come and go while the process runs: networks are renumbered, IPv6 addresses last a day. */
const READ_AGAIN_MS = 10 * SECOND

/** A shorter prefix is no network of this machine's but that of its whole provider: there the address alone is refused. */
const SHORTEST_PREFIX = 48

/**
 * Knows the machine's addresses of the open internet: what listens there for its owner alone, or trusts who comes from there,
 * is as much inside as what listens at 127.0.0.1. The list is at most ten seconds old. An address that only a router has, which
 * hands on what comes to it, is on no interface and is not known here.
 */
export function ownAddresses(
  list: ListInterfaces = networkInterfaces,
  now: () => number = () => performance.now(),
): IsOwnAddress {
  let readAt = Number.NEGATIVE_INFINITY
  let networks: readonly (readonly [address: Address, bits: number])[] = []
  return (address) => {
    if (now() - readAt >= READ_AGAIN_MS) {
      networks = networksOf(list())
      readAt = now()
    }
    const reached = reachedAddress(address)
    return networks.some(([own, bits]) => own.kind() === reached.kind() && reached.match(own, bits))
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
