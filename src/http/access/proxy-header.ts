import type { IncomingMessage } from 'node:http'
import proxyAddress from '@fastify/proxy-addr'
import { AppError, type Clock, MINUTE } from '../../lib/index.ts'
import type { ProxyClaim, ProxyHeaders } from './access.ts'

/** Warns the operator about something that a third party did. */
export type Warn = (facts: object, message: string) => void

const EMAIL = /^[^\s<>@,]+@[^\s<>@,]+$/
const LONGEST_EMAIL = 254
const LONGEST_NAME = 100
const MOST_GROUPS = 5_000
/** Strangers may send the header as often as they like, so the log mentions it at most this often. */
const WARN_EVERY_MS = MINUTE

/**
 * Returns a function that reads whom the proxy in front has signed in, or null. Only the other end of the connection counts as
 * the proxy, because a caller may have written `X-Forwarded-For`. The header is ignored when it comes from any other address.
 *
 * @throws AppError `forbidden` (the returned function) when the proxy passes such a header on beside its own, as one of the two
 * is the caller's
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
    warn(
      { address, header: email },
      'ignored a header that names a person, because it came from an address outside PROXY_ADDRESSES',
    )
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
      throw new AppError(
        'forbidden',
        `The header ${twice} was sent twice: the proxy must remove it from the requests of callers`,
      )
    }
    const said = name === null ? '' : textOf(headers[name])
    return {
      email: given.length <= LONGEST_EMAIL && EMAIL.test(given) ? given : null,
      name: said === '' ? null : said.slice(0, LONGEST_NAME),
      groups: groups === null ? [] : groupsOf(textOf(headers[groups])),
    }
  }
}

/** Counts in the raw headers, where names have even indexes: Node joins repeated headers, so the parsed ones do not tell. */
const countOf = (rawHeaders: readonly string[], name: string): number =>
  rawHeaders.filter((text, index) => index % 2 === 0 && text.toLowerCase() === name).length

/** Node decodes headers as Latin-1, while proxies write names and groups as UTF-8. */
function textOf(value: string | string[] | undefined): string {
  const text = (Array.isArray(value) ? value.join(',') : (value ?? '')).trim()
  const decoded = Buffer.from(text, 'latin1').toString('utf8')
  return decoded.includes('\uFFFD') ? text : decoded
}

/** oauth2-proxy and Authelia separate groups with commas, authentik with bars. */
const groupsOf = (text: string): string[] =>
  text
    .split(/[,|]/)
    .map((group) => group.trim())
    .filter((group) => group !== '')
    .slice(0, MOST_GROUPS)
