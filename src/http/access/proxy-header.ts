import type { IncomingMessage } from 'node:http'
import proxyAddress from '@fastify/proxy-addr'
import { AppError, type Clock, MINUTE } from '../../lib/index.ts'
import type { ProxyClaim, ProxyHeaders } from './access.ts'

/** For the operator: what someone else did wrong. */
export type Warn = (facts: object, message: string) => void

const EMAIL = /^[^\s<>@,]+@[^\s<>@,]+$/
const LONGEST_EMAIL = 254
const LONGEST_NAME = 100
const MOST_GROUPS = 5_000
/** Strangers may send the header as often as they like; the log need not say so each time. */
const WARN_EVERY_MS = MINUTE

/**
 * Returns the function that finds whom the proxy in front has signed in; null: it says nothing of anyone. Only the other end of the
 * connection counts as the proxy: what `X-Forwarded-For` says, a caller may have written. A header that comes from elsewhere
 * is none.
 *
 * @throws AppError `forbidden` (the function) where the proxy hands on such a header beside its own: one of the two is the caller's
 */
export function proxyClaimReader(
  { email, name, groups, addresses }: ProxyHeaders,
  clock: Clock,
  warn: Warn,
): (request: IncomingMessage) => ProxyClaim | null {
  const isProxy = proxyAddress.compile([...addresses])
  const own = [email, name, groups].filter((header) => header !== null)
  let warnedAt = Number.NEGATIVE_INFINITY

  function warnOfStranger(address: string): void {
    const now = clock.now()
    if (Math.abs(now - warnedAt) < WARN_EVERY_MS) return
    warnedAt = now
    warn({ address, header: email }, 'a header that says who someone is came from outside of PROXY_ADDRESSES: ignored')
  }

  return ({ socket, headers, rawHeaders }) => {
    const given = textOf(headers[email])
    if (given === '') return null
    const address = socket.remoteAddress ?? ''
    if (!isProxy(address, 0)) {
      warnOfStranger(address)
      return null
    }
    const twice = own.find((header) => countOf(rawHeaders, header) > 1)
    if (twice !== undefined) {
      throw new AppError('forbidden', `The header ${twice} came twice: the proxy must remove it from what callers send`)
    }
    const said = name === null ? '' : textOf(headers[name])
    return {
      email: given.length <= LONGEST_EMAIL && EMAIL.test(given) ? given : null,
      name: said === '' ? null : said.slice(0, LONGEST_NAME),
      groups: groups === null ? [] : groupsOf(textOf(headers[groups])),
    }
  }
}

/** Names are the even ones. Node joins the values of headers that come twice, so the parsed ones do not tell. */
const countOf = (rawHeaders: readonly string[], name: string): number =>
  rawHeaders.filter((text, index) => index % 2 === 0 && text.toLowerCase() === name).length

/** Node reads headers as Latin-1; proxies write names and groups as UTF-8. */
function textOf(value: string | string[] | undefined): string {
  const text = (Array.isArray(value) ? value.join(',') : (value ?? '')).trim()
  const decoded = Buffer.from(text, 'latin1').toString('utf8')
  return decoded.includes('\uFFFD') ? text : decoded
}

/** oauth2-proxy and Authelia separate them by commas, authentik by bars. */
const groupsOf = (text: string): string[] =>
  text
    .split(/[,|]/)
    .map((group) => group.trim())
    .filter((group) => group !== '')
    .slice(0, MOST_GROUPS)
