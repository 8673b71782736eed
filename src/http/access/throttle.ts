import type { IncomingMessage, Server } from 'node:http'
import { isIP, type Socket } from 'node:net'
import proxyAddress from '@fastify/proxy-addr'
import ipaddr from 'ipaddr.js'
import { type Clock, MINUTE, monotonicOf, SECOND } from '../../lib/index.ts'
import type { Role } from './access.ts'

/** Consecutive failures that cost nothing, as people mistype. */
const FREE_FAILURES = 5
const MAX_DELAY_MS = 30 * SECOND
/** A record without a failure for this long is dropped. */
const FORGET_AFTER_MS = 15 * MINUTE
/** Most addresses remembered for each role, about 1 MB; beyond it the one with the oldest failure is dropped. */
const MAX_ADDRESSES = 10_000

export interface FailureRecord {
  failures: number
  lastFailureAt: number
}

/** How long an address has to wait after its last failure, ms: 0, then 1 s doubling up to 30 s. */
export function delayAfter(failures: number): number {
  if (failures < FREE_FAILURES) return 0
  return Math.min(MAX_DELAY_MS, SECOND * 2 ** (failures - FREE_FAILURES))
}

/** The record after another failure. */
export function withFailure(record: FailureRecord | undefined, now: number): FailureRecord {
  const lapsed = record === undefined || now - record.lastFailureAt > FORGET_AFTER_MS
  return { failures: lapsed ? 1 : record.failures + 1, lastFailureAt: now }
}

/** Milliseconds until the address may try again; 0 for now. */
export function waitOf(record: FailureRecord | undefined, now: number): number {
  if (record === undefined) return 0
  return Math.max(0, record.lastFailureAt + delayAfter(record.failures) - now)
}

/**
 * The caller that an address counts as. An IPv6 host has a whole /64 to send from, so that is one caller.
 *
 * @param address undefined for a connection that its sender has reset: what arrived before is still read, but the system no
 * longer knows where from. The types of libraries that pass it on do not say so.
 */
export function callerOf(address: string | undefined): string {
  if (address === undefined) return ''
  const host = withoutPort(address)
  if (isIP(host) !== 6) return host
  // Turns an IPv4 address mapped into IPv6 back into IPv4.
  const plain = ipaddr.process(host)
  if (plain instanceof ipaddr.IPv4) return plain.toString()
  const network = plain.parts.slice(0, 4).map((group) => group.toString(16))
  return `${network.join(':')}::/64`
}

/** The network that a caller belongs to, for what one customer of a provider could do from many addresses: a /24, or a /48. */
export const networkOf = (caller: string): string => caller.split(/[.:]/, 3).join(' ')

/** Some proxies forward the port too (Azure Application Gateway), which would make each connection another caller. */
const withoutPort = (address: string): string => address.replace(/^\[([^\]]+)\](?::\d+)?$|^([\d.]+):\d+$/, '$1$2')

/** The sender of a token or password. */
export interface Guesser {
  /** Undefined for a connection that was reset. */
  address: string | undefined
  /** False when the call used a host name that is not this service's. */
  isByOwnName: boolean
}

export interface Throttle {
  /**
   * Milliseconds until a token may be tried; 0 for now.
   *
   * @param role the token's role, null for none. Each role has its own record; a wrong token waits for the admin's record as an
   * admin's token does, so the answer reveals nothing about a guess.
   */
  wait(guesser: Guesser, role: Role | null): number
  /** Counts a wrong token as a guess at the token of every role that may be tried now. */
  failed(guesser: Guesser): void
  /** Forgives failures for this role and lower ones: a viewer's token proves nothing about someone who guesses the admin's. */
  succeeded(guesser: Guesser, role: Role): void
  /**
   * Milliseconds until a password may be tried: the longer wait of the address's guesses and of everyone's guesses at the
   * account. Addresses that have sent the right password wait only for their own: guesses from elsewhere keep no one out of their
   * account.
   */
  waitForPassword(guesser: Guesser, email: string): number
  /** A password is about to be tried, whether or not there is such an account. */
  passwordTried(guesser: Guesser, email: string): void
  /**
   * Counts the attempt before `compare` runs, so that guesses sent all at once each count. When `compare` throws, takes back that
   * attempt alone: otherwise causing overload would forgive guesses.
   */
  tryPassword<T>(guesser: Guesser, email: string, compare: () => Promise<T>): Promise<T>
  /** It was right: forgives the attempts, but not those at keys. */
  passwordRight(guesser: Guesser, email: string): void
}

/** Slows down guessing of keys per address and role, and of passwords per account, in bounded memory. Each node counts for itself. */
export function createThrottle(clock: Clock, maxAddresses = MAX_ADDRESSES): Throttle {
  const records: Readonly<Record<Role, Records>> = {
    admin: new Records(clock, maxAddresses),
    viewer: new Records(clock, maxAddresses),
  }
  const passwords = new Records(clock, maxAddresses)
  const accounts = new Records(clock, maxAddresses)
  /** Addresses from which people last signed in to their accounts. */
  const places = new Records(clock, maxAddresses)
  const place = (guesser: Guesser, email: string) => `${emailKey(email)} ${keyOf(guesser)}`
  return {
    waitForPassword(guesser, email) {
      const ofAccount = places.has(place(guesser, email)) ? 0 : accounts.wait(emailKey(email))
      return Math.max(passwords.wait(keyOf(guesser)), ofAccount)
    },
    passwordTried(guesser, email) {
      passwords.failed(keyOf(guesser))
      accounts.failed(emailKey(email))
    },
    async tryPassword(guesser, email, compare) {
      this.passwordTried(guesser, email)
      try {
        return await compare()
      } catch (thrown) {
        passwords.takeBack(keyOf(guesser))
        accounts.takeBack(emailKey(email))
        throw thrown
      }
    },
    passwordRight(guesser, email) {
      passwords.forget(keyOf(guesser))
      accounts.forget(emailKey(email))
      places.failed(place(guesser, email))
    },
    wait: (guesser, role) => records[role ?? 'admin'].wait(keyOf(guesser)),
    failed(guesser) {
      for (const record of [records.admin, records.viewer]) {
        if (record.wait(keyOf(guesser)) === 0) record.failed(keyOf(guesser))
      }
    },
    succeeded(guesser, role) {
      if (role === 'admin') records.admin.forget(keyOf(guesser))
      records.viewer.forget(keyOf(guesser))
    },
  }
}

/** A form that is equal for addresses that are the same to people: e-mail servers ignore case. */
export const emailKey = (email: string): string => email.trim().toLowerCase()

const keyOf = ({ address, isByOwnName }: Guesser): string =>
  isByOwnName ? callerOf(address) : `${callerOf(address)} by another name`

class Records {
  readonly #clock: Clock
  readonly #maxAddresses: number
  readonly #records = new Map<string, FailureRecord>()

  constructor(clock: Clock, maxAddresses: number) {
    this.#clock = clock
    this.#maxAddresses = maxAddresses
  }

  wait(caller: string): number {
    return waitOf(this.#records.get(caller), monotonicOf(this.#clock))
  }

  failed(caller: string): void {
    const record = withFailure(this.#records.get(caller), monotonicOf(this.#clock))
    // A Map keeps insertion order: reinserting the record keeps the first entry the oldest.
    this.#records.delete(caller)
    this.#records.set(caller, record)
    if (this.#records.size <= this.#maxAddresses) return
    const oldest = this.#records.keys().next()
    if (oldest.done !== true) this.#records.delete(oldest.value)
  }

  /** Takes back one failure, unless it was forgiven meanwhile; the wait still counts from it. */
  takeBack(caller: string): void {
    const record = this.#records.get(caller)
    if (record !== undefined) this.#records.set(caller, { ...record, failures: Math.max(0, record.failures - 1) })
  }

  has(caller: string): boolean {
    return this.#records.has(caller)
  }

  forget(caller: string): void {
    this.#records.delete(caller)
  }
}

/**
 * Returns a function that finds the caller of a request, for limits that callers share: the address that it comes from or that
 * our proxies forward; for IPv6 its /64.
 *
 * @param trustProxy proxies whose `X-Forwarded-For` is believed
 */
export function callerReader(trustProxy: readonly string[]): (request: IncomingMessage) => string {
  if (trustProxy.length === 0) return ({ socket }) => callerOf(socket.remoteAddress)
  const isTrusted = proxyAddress.compile([...trustProxy])
  return (request) => callerOf(proxyAddress(request, isTrusted))
}

/** How long an address that flooded a connection gets no new one, ms. */
const BARRED_MS = 1_000
/** Most addresses remembered; the oldest beyond them are forgiven. */
const MAX_REMEMBERED = 10_000

/**
 * Addresses whose connection was cut because they sent too many requests ahead. What such a connection sent before is parsed all
 * the same, 1,400 requests in 40 ms: a sender that opened the next one at once, 26 times a second, took the whole processor.
 */
export class Flooders {
  readonly #clock: Clock
  /** Until when each is barred (monotonic time), the oldest first. */
  readonly #barredUntil = new Map<string, number>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Cuts the connection and bars the address for `BARRED_MS`. */
  cut(socket: Socket): void {
    const address = callerOf(socket.remoteAddress)
    socket.destroy()
    this.#barredUntil.delete(address)
    this.#barredUntil.set(address, monotonicOf(this.#clock) + BARRED_MS)
    if (this.#barredUntil.size <= MAX_REMEMBERED) return
    const [first] = this.#barredUntil.keys()
    if (first !== undefined) this.#barredUntil.delete(first)
  }

  /** Makes `server` refuse connections from barred addresses. */
  keepOut(server: Server): void {
    server.on('connection', (socket: Socket) => {
      if (this.#isBarred(callerOf(socket.remoteAddress))) socket.destroy()
    })
  }

  #isBarred(address: string): boolean {
    const until = this.#barredUntil.get(address)
    if (until === undefined) return false
    if (monotonicOf(this.#clock) < until) return true
    this.#barredUntil.delete(address)
    return false
  }
}
