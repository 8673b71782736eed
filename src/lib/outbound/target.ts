import { isIP } from 'node:net'
import { withoutRootDot } from './allow.ts'
import { OutboundError } from './error.ts'
import { BAD_PORTS } from './ports.ts'

/** Servers take no longer ones; redirects may lead to any. */
const MAX_URL = 8_192
/** RFC 1035, and a dot at the end. */
const MAX_HOST = 254

/** Where one request goes, read from its URL. */
export interface Target {
  url: URL
  /** Host name in ASCII without a dot at its end, or address without brackets. */
  host: string
  isAddress: boolean
  port: number
  isSecure: boolean
}

/**
 * Reads a URL the way it will be asked for: the URL standard turns every odd spelling of a host (`0x7f.1`, `2130706433`,
 * full-width digits) into the one that is checked and connected to.
 *
 * @throws OutboundError of kind `bad_url`
 */
export function parseTarget(text: string): Target {
  const url = URL.parse(text)
  if (url === null) throw badUrl('this is not a complete address like https://www.example.com/path')
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw badUrl('only http and https can be asked')
  if (url.username !== '' || url.password !== '') throw badUrl('the address must not hold a user name or password')
  const isSecure = url.protocol === 'https:'
  const port = url.port === '' ? (isSecure ? 443 : 80) : Number(url.port)
  if (BAD_PORTS.has(port)) throw badUrl(`port ${port} is not one of web servers`)
  if (url.href.length > MAX_URL) throw badUrl(`the address is longer than ${MAX_URL} characters`)
  if (url.hostname.length > MAX_HOST) throw badUrl('the name of its host is longer than names can be')
  const host = withoutRootDot(url.hostname.replace(/^\[|\]$/g, ''))
  return { url, host, isAddress: isIP(host) !== 0, port, isSecure }
}

const badUrl = (message: string): OutboundError => new OutboundError('bad_url', message)
