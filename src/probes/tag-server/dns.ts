import { isIP } from 'node:net'
import { DAY, HOUR } from '../../lib/index.ts'
import { type NameFacts, OutboundError } from '../../outbound/index.ts'
import type { JsonObject } from '../probe-type.ts'
import type { RequestTools } from './ask.ts'
import { type CheckFinding, objectIn } from './judge.ts'

/** A name that the tag server should point to, with its addresses; null when they are unknown. */
export interface DnsTarget {
  name: string
  addresses: readonly string[] | null
}

/** The host to look up; null for IP addresses. */
export function lookedUpName(url: string): string | null {
  const host = new URL(url).hostname.replace(/\.$/, '')
  return host.startsWith('[') || isIP(host) !== 0 ? null : host
}

/** @throws OutboundError when the run is over */
export async function askTargets(
  { outbound, timeoutMs, signal }: RequestTools,
  targets: readonly string[],
): Promise<DnsTarget[]> {
  const addressesOf = async (name: string): Promise<DnsTarget['addresses']> => {
    if (isIP(name) !== 0) return [name]
    try {
      return (await outbound.resolve(name, { totalMs: timeoutMs, signal })).addresses
    } catch (thrown) {
      // A target that does not resolve may still be an alias of the tag server's name.
      if (!(thrown instanceof OutboundError) || thrown.kind === 'aborted') throw thrown
      return thrown.kind === 'dns' ? [] : null
    }
  }
  return Promise.all(targets.map(async (name) => ({ name, addresses: await addressesOf(name) })))
}

/**
 * Judges whether a name still points where it should: it is an alias of one of the targets, or shares an address with one.
 * Without targets, nothing is judged.
 */
export function judgeTargets(host: string, facts: NameFacts, targets: readonly DnsTarget[]): CheckFinding[] {
  if (targets.length === 0) return []
  const isMet = targets.some(
    ({ name, addresses }) =>
      facts.aliases.includes(name.toLowerCase().replace(/\.$/, '')) ||
      addresses?.some((address) => facts.addresses.includes(address)),
  )
  const unknown = targets.find(({ addresses }) => addresses === null)
  if (!isMet && unknown !== undefined) {
    const message = `where ${unknown.name} points could not be looked up, so whether ${host} points there is not judged`
    return [{ check: 'dns_target', status: 'error', message }]
  }
  const wanted = targets.map(({ name }) => name).join(' or ')
  if (!isMet && !facts.knowsAliases && targets.some(({ name }) => isIP(name) === 0)) {
    const message = `what ${host} is an alias of could not be looked up, so whether it points to ${wanted} is not judged`
    return [{ check: 'dns_target', status: 'error', message }]
  }
  const actual = [...facts.aliases, ...facts.addresses.slice(0, 4)].join(', ')
  return [
    isMet
      ? { check: 'dns_target', status: 'ok', message: `${host} points to ${wanted}` }
      : { check: 'dns_target', status: 'critical', message: `${host} points to ${actual} and no longer to ${wanted}` },
  ]
}

/** Large hosts answer with changing addresses, so what is usual must be learnt first. */
const LEARNING_MS = 7 * DAY
/** After this time, a new network counts as usual. */
const NEW_MS = 24 * HOUR
const FORGOTTEN_MS = 30 * DAY
/** More than any host has in a month; a name that keeps changing must not fill the memory. */
const MAX_NETWORKS = 200

/** Networks that a name has pointed to. Times are epoch ms. */
export interface DnsHistory {
  since: number
  networks: Readonly<Record<string, readonly [first: number, last: number]>>
}

/** A name that points to none of its usual networks was moved, on purpose or to someone else's server. */
export function judgeMove(host: string, history: DnsHistory, addresses: readonly string[], now: number): CheckFinding {
  const isUsual = ([first]: readonly [number, number]) => first - history.since < LEARNING_MS || now - first >= NEW_MS
  const current = Object.entries(history.networks).filter(([network]) => addresses.map(networkOf).includes(network))
  if (current.length === 0 || current.some(([, seen]) => isUsual(seen))) {
    return { check: 'dns_move', status: 'ok', message: `${host} points where it usually does` }
  }
  const where = addresses.slice(0, 4).join(', ')
  return {
    check: 'dns_move',
    status: 'warning',
    message: `${host} no longer points where it did in the last days, but to ${where}`,
  }
}

/** Returns the history with the current answer. */
export function withAnswer(history: DnsHistory, addresses: readonly string[], now: number): DnsHistory {
  const kept = Object.entries(history.networks).filter(([, [, last]]) => now - last < FORGOTTEN_MS)
  const seen = addresses.map((address): [string, readonly [number, number]] => {
    const network = networkOf(address)
    return [network, [history.networks[network]?.[0] ?? now, now]]
  })
  // Networks seen again move to the end, so that the oldest are dropped first.
  const networks = new Map(kept.filter(([network]) => !seen.some(([name]) => name === network)))
  for (const [network, times] of seen) networks.set(network, times)
  return { since: history.since, networks: Object.fromEntries([...networks].slice(-MAX_NETWORKS)) }
}

/** The first 16 bits of an IPv4 address or 32 bits of an IPv6 address: roughly what one host has in one place. */
export function networkOf(address: string): string {
  if (isIP(address) === 4) return address.split('.').slice(0, 2).join('.')
  const [before = ''] = address.split('::')
  const groups = before.split(':').filter((group) => group !== '')
  return [groups[0] ?? '0', groups[1] ?? '0'].map((group) => Number.parseInt(group, 16).toString(16)).join(':')
}

export function historyIn(memory: JsonObject, now: number): DnsHistory {
  const dns = objectIn(memory.dns)
  const entries = Object.entries(objectIn(dns.networks)).flatMap(([network, seen]) => {
    const [first, last] = Array.isArray(seen) ? seen : []
    return typeof first === 'number' && typeof last === 'number' ? [[network, [first, last] as const] as const] : []
  })
  return { since: typeof dns.since === 'number' ? dns.since : now, networks: Object.fromEntries(entries) }
}

export const historyInMemory = ({ since, networks }: DnsHistory): JsonObject => ({ since, networks })
