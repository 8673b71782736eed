import type { IncomingMessage } from 'node:http'
import proxyAddress from '@fastify/proxy-addr'
import { callerOf } from './access/throttle.ts'

/**
 * Whom a request counts for where callers share something out: the address it comes from, behind proxies of ours that which
 * they forward, and of IPv6 its /64.
 *
 * @param trustProxy proxies whose `X-Forwarded-For` is believed
 */
export function callerReader(trustProxy: readonly string[]): (request: IncomingMessage) => string {
  if (trustProxy.length === 0) return ({ socket }) => callerOf(socket.remoteAddress)
  const isTrusted = proxyAddress.compile([...trustProxy])
  return (request) => callerOf(proxyAddress(request, isTrusted))
}
