import { Resolver } from 'node:dns/promises'
import { once } from 'node:events'
import { connect as connectTcp, isIP, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { Clock } from '../lib/index.ts'
import { codeOf, unlessAborted } from '../lib/index.ts'
import type { IsOwnAddress } from './address.ts'
import { type OutboundAllow, requireAllowed, withoutRootDot } from './allow.ts'
import { type CertificateFacts, certificateFacts } from './certificate.ts'
import { isWithoutRoute, OutboundError, withoutIpv6 } from './error.ts'
import type { OutboundLookup } from './lookup.ts'
import type { RequestTimer } from './request-timer.ts'
import type { Target } from './target.ts'

/** A connection for one request. */
interface Connection {
  socket: Socket
  /** Null without TLS. */
  certificate: CertificateFacts | null
}

export interface Connecting {
  allow: OutboundAllow
  isOwn: IsOwnAddress
  /** Whether this machine has a public IPv6 address. */
  hasIpv6: () => boolean
  lookup: OutboundLookup
  clock: Clock
}

/**
 * How long one of several addresses is tried before the next. A handshake takes less anywhere on Earth, unless a packet was lost,
 * which TCP sends again after 1 s. The last address gets the remaining time.
 */
const ATTEMPT_MS = 1_000

/**
 * Resolves, checks and connects. The socket goes to exactly the addresses that were checked: the name is looked up only once, so
 * that a DNS server cannot answer something else afterwards.
 *
 * @throws OutboundError, or the socket's error; nothing stays open then
 */
export async function openConnection(target: Target, timer: RequestTimer, env: Connecting): Promise<Connection> {
  const addresses = target.isAddress
    ? [target.host]
    : await timer.during('dns', () => lookupAll(target.host, timer, env.lookup))
  requireAllowed(target.host, addresses, env.allow, env.isOwn)
  const plain = await timer.during('connect', () => connect(target, addresses, timer.signal, env))
  if (!target.isSecure) return { socket: plain, certificate: null }
  return await timer.during('tls', () => secure(plain, target, timer.signal, env.clock))
}

/** @throws OutboundError of kind `dns` for a name without addresses, or the lookup's error */
export async function lookupAll(host: string, timer: RequestTimer, lookup: OutboundLookup): Promise<readonly string[]> {
  const addresses = await unlessAborted(timer.signal, lookup(host))
  if (addresses.length === 0) throw new OutboundError('dns', `${host} has no address`, { phase: 'dns' })
  return addresses
}

async function connect(
  { host, port }: Target,
  addresses: readonly string[],
  signal: AbortSignal,
  env: Pick<Connecting, 'hasIpv6'>,
): Promise<Socket> {
  const socket = connectTcp({
    // Not called for a literal address, which is itself the checked one.
    lookup: (_host, _options, answer) =>
      answer(
        null,
        addresses.map((address) => ({ address, family: isIP(address) })),
      ),
    host,
    port,
    noDelay: true,
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: ATTEMPT_MS,
  })
  try {
    return await ready(socket, 'connect', signal)
  } catch (cause) {
    const isIpv6Only = addresses.every((address) => isIP(address) === 6)
    throw isIpv6Only && isWithoutRoute(cause) && !env.hasIpv6() ? withoutIpv6(cause, host) : cause
  }
}

async function secure(plain: Socket, target: Target, signal: AbortSignal, clock: Clock): Promise<Connection> {
  const socket = connectTls({
    socket: plain,
    host: target.host,
    // An address is not a valid server name (RFC 6066), but it is still compared with the certificate.
    ...(target.isAddress ? {} : { servername: target.host }),
    ALPNProtocols: ['http/1.1'],
    // Verified all the same, and refused below: Node would end the handshake before the certificate can be read.
    rejectUnauthorized: false,
  })
  try {
    await ready(socket, 'secureConnect', signal)
    const problem = socket.authorized ? null : String(socket.authorizationError)
    const peer = socket.getPeerX509Certificate()
    const certificate = peer === undefined ? null : certificateFacts(peer, problem, clock.now())
    if (problem === null) return { socket, certificate }
    const reason = certificate?.problem ?? `there is no certificate to trust (${problem})`
    throw new OutboundError('tls', `${target.host} cannot be trusted: ${reason}`, {
      phase: 'tls',
      ...(certificate === null ? {} : { certificate }),
    })
  } catch (thrown) {
    socket.destroy()
    throw thrown
  }
}

async function ready<S extends Socket>(socket: S, event: 'connect' | 'secureConnect', signal: AbortSignal): Promise<S> {
  // `once` below receives the socket's error; an error when no one waits must not end the process.
  socket.on('error', () => {})
  try {
    await once(socket, event, { signal })
    return socket
  } catch (thrown) {
    socket.destroy()
    throw thrown
  }
}

/** Where a name leads. */
export interface NameFacts {
  addresses: readonly string[]
  /** The chain of aliases (CNAME) of the name, in order; only when requested. */
  aliases: readonly string[]
  /** Whether `aliases` is complete: they were requested, and every lookup was answered. */
  knowsAliases: boolean
}

/** Asks the DNS servers directly, because the system's resolver follows aliases without reporting them. */
export const systemAliases: OutboundLookup = (host) => new Resolver({ timeout: 2_000, tries: 1 }).resolveCname(host)

/** Longer chains are loops or useless: resolvers give up on them too. */
const MAX_ALIASES = 8

/** Errors that mean the name has no alias. */
const NO_ALIAS: readonly string[] = ['ENODATA', 'ENOTFOUND']

export async function aliasesOf(host: string, lookup: OutboundLookup): Promise<Omit<NameFacts, 'addresses'>> {
  const aliases: string[] = []
  let knowsAliases = true
  for (let name: string | undefined = host; name !== undefined && aliases.length < MAX_ALIASES; ) {
    const [next]: readonly string[] = await lookup(name).catch((thrown: unknown) => {
      knowsAliases = NO_ALIAS.includes(codeOf(thrown))
      return []
    })
    name = next === undefined ? undefined : withoutRootDot(next.toLowerCase())
    if (name !== undefined) aliases.push(name)
  }
  return { aliases, knowsAliases }
}
