import { isIPv6 } from 'node:net'
import { type Clock, MINUTE, SECOND } from '../../lib/index.ts'

/** Failures in a row that cost nothing: people mistype. */
const FREE_FAILURES = 5
const MAX_DELAY_MS = 30 * SECOND
/** A record without a failure for this long is forgotten. */
const FORGET_AFTER_MS = 15 * MINUTE
/** Addresses remembered at most, about 1 MB; beyond it the one longest without a failure goes. */
const MAX_ADDRESSES = 10_000

export interface FailureRecord {
  failures: number
  lastFailureAt: number
}

/** How long the failures so far keep an address out after the last of them, ms: 0, then 1 s doubling to 30 s. */
export function delayAfter(failures: number): number {
  if (failures < FREE_FAILURES) return 0
  return Math.min(MAX_DELAY_MS, SECOND * 2 ** (failures - FREE_FAILURES))
}

/** The record after one more failure. */
export function withFailure(record: FailureRecord | undefined, now: number): FailureRecord {
  const lapsed = record === undefined || now - record.lastFailureAt > FORGET_AFTER_MS
  return { failures: lapsed ? 1 : record.failures + 1, lastFailureAt: now }
}

/** Milliseconds until the address may try again; 0 when it may now. */
export function waitOf(record: FailureRecord | undefined, now: number): number {
  if (record === undefined) return 0
  return Math.max(0, record.lastFailureAt + delayAfter(record.failures) - now)
}

/** Whom an address counts as: an IPv6 host has a whole /64 to send from, so that is one caller. */
export function callerOf(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1]
  if (mapped !== undefined) return mapped
  const [bare = ''] = address.split('%', 1)
  if (!isIPv6(bare)) return address
  const [head = '', tail] = bare.toLowerCase().split('::')
  const groups = head === '' ? [] : head.split(':')
  if (tail !== undefined) {
    const behind = tail === '' ? [] : tail.split(':')
    groups.push(...Array<string>(8 - groups.length - behind.length).fill('0'), ...behind)
  }
  return `${groups
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')}::/64`
}

export interface Throttle {
  /** Milliseconds that this address has to wait; 0 when it may try. */
  wait(address: string): number
  failed(address: string): void
  succeeded(address: string): void
}

/** Slows the guessing of keys, per address, in bounded memory. Each node counts for itself. */
export function createThrottle(clock: Clock, maxAddresses = MAX_ADDRESSES): Throttle {
  const records = new Map<string, FailureRecord>()
  return {
    wait: (address) => waitOf(records.get(callerOf(address)), clock.now()),
    failed(address) {
      const caller = callerOf(address)
      const record = withFailure(records.get(caller), clock.now())
      // A Map keeps the order of insertion: putting the record in anew keeps the first entry the oldest.
      records.delete(caller)
      records.set(caller, record)
      if (records.size > maxAddresses) {
        const oldest = records.keys().next()
        if (oldest.done !== true) records.delete(oldest.value)
      }
    },
    succeeded(address) {
      records.delete(callerOf(address))
    },
  }
}
