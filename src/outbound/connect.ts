import { Resolver, lookup as systemResolve } from 'node:dns/promises'
import { once } from 'node:events'
import { connect as connectTcp, isIP, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { Clock } from '../lib/index.ts'
import { codeOf, unlessAborted } from '../lib/index.ts'
import type { IsOwnAddress } from './address.ts'
import { type OutboundAllow, requireAllowed, withoutRootDot } from './allow.ts'
import { type CertificateFacts, certificateFacts } from './certificate.ts'
import { OutboundError } from './error.ts'
import type { RequestTimer } from './request-timer.ts'
import type { Target } from './target.ts'

/** All addresses of a name, in the order in which they are tried. */
export type OutboundLookup = (host: string) => Promise<readonly string[]>

/** A connection over which the request can go. */
interface Connection {
  socket: Socket
  /** Null without TLS. */
  certificate: CertificateFacts | null
}

export interface Connecting {
  allow: OutboundAllow
  isOwn: IsOwnAddress
  lookup: OutboundLookup
  clock: Clock
}

/**
 * How long one address of several is tried before the next. A handshake is done in less anywhere on Earth, unless its
 * packet was lost, which TCP sends again after 1 s; the last address has the time that is left.
 */
const ATTEMPT_MS = 1_000

/**
 * Resolves, checks and connects. The socket goes to the very addresses that were checked: what a name leads to is asked
 * once, so that a DNS server cannot answer something else afterwards.
 *
 * @throws OutboundError, or what the socket fails with; nothing stays open then
 */
export async function openConnection(target: Target, timer: RequestTimer, env: Connecting): Promise<Connection> {
  const addresses = target.isAddress
    ? [target.host]
    : await timer.during('dns', () => lookupAll(target.host, timer, env.lookup))
  requireAllowed(target.host, addresses, env.allow, env.isOwn)
  const plain = await timer.during('connect', () => connect(target, addresses, timer.signal))
  if (!target.isSecure) return { socket: plain, certificate: null }
  return await timer.during('tls', () => secure(plain, target, timer.signal, env.clock))
}

/** @throws OutboundError of kind `dns` for a name without addresses, or what the lookup fails with */
export async function lookupAll(host: string, timer: RequestTimer, lookup: OutboundLookup): Promise<readonly string[]> {
  const addresses = await unlessAborted(timer.signal, lookup(host))
  if (addresses.length === 0) throw new OutboundError('dns', `${host} has no address`, { phase: 'dns' })
  return addresses
}

async function connect({ host, port }: Target, addresses: readonly string[], signal: AbortSignal): Promise<Socket> {
  const socket = connectTcp({
    // Not called for a literal address, which is then the one that was checked.
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
  return await ready(socket, 'connect', signal)
}

async function secure(plain: Socket, target: Target, signal: AbortSignal, clock: Clock): Promise<Connection> {
  const socket = connectTls({
    socket: plain,
    host: target.host,
    // An address is no server name (RFC 6066), but is compared with the certificate all the same.
    ...(target.isAddress ? {} : { servername: target.host }),
    ALPNProtocols: ['http/1.1'],
    // Verified nonetheless, and refused below: Node would end the handshake before the certificate can be read.
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
  // `once` below gets the socket's error; one that comes without a waiter must not end the process.
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
  /** The names that the asked one stands for (CNAME), in the order in which they lead on; only when asked for. */
  aliases: readonly string[]
  /** Whether these are all: they were asked for, and every look-up was answered. */
  knowsAliases: boolean
}

export const systemLookup: OutboundLookup = async (host) => {
  const found = await systemResolve(host, { all: true })
  return found.map(({ address }) => address)
}

/** The DNS servers' own answer: the system's resolver follows aliases without reporting them. */
export const systemAliases: OutboundLookup = (host) => new Resolver({ timeout: 2_000, tries: 1 }).resolveCname(host)

/** Longer chains are loops, or as good as none: resolvers give up on them, too. */
const MAX_ALIASES = 8

/** By these errors a look-up says that the name has no alias. */
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
