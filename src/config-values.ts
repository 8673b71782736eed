import { isIP } from 'node:net'
import { withoutEnd } from './lib/index.ts'

/** Readers of single configuration values. Each throws an Error whose message goes after the setting's name: "must be …". */

export type Parse<T> = (text: string | undefined) => T

export const text =
  (fallback: string): Parse<string> =>
  (value) =>
    value ?? fallback

export const optional =
  <T>(parse: (value: string) => T): Parse<T | null> =>
  (value) =>
    value === undefined ? null : parse(value)

export const integer =
  (fallback: number, min: number, max: number): Parse<number> =>
  (value) => {
    if (value === undefined) return fallback
    const number = /^\d{1,9}$/.test(value) ? Number(value) : Number.NaN
    if (!(number >= min && number <= max)) throw new Error(`must be a whole number from ${min} to ${max}`)
    return number
  }

export const oneOf =
  <const T extends string>(allowed: readonly T[], fallback: T): Parse<T> =>
  (value) => {
    if (value === undefined) return fallback
    const found = allowed.find((candidate) => candidate === value)
    if (found === undefined) throw new Error(`must be one of ${allowed.join(', ')}`)
    return found
  }

export const flag: Parse<boolean> = (value) => {
  if (value === undefined || value === 'false') return false
  if (value === 'true') return true
  throw new Error('must be true or false')
}

export const list: Parse<readonly string[]> = (value) =>
  (value ?? '')
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')

const ROLES = ['viewer', 'editor', 'owner'] as const

/** The role that membership of a group gives, as `accounts` expects it. */
export interface GroupRole {
  group: string
  role: (typeof ROLES)[number]
  /** Names or ids; null for every client and the service itself. */
  clients: readonly string[] | null
}

/** What separates the group from the clients. A colon alone would not do (`urn:example:admins`), nor would ` of ` (`House of Tea`). */
const OF_CLIENTS = /:\s*(viewer|editor|owner) of /

/** Rules such as `admins: owner of all; acme team: editor of Acme, Acme Labs`. */
export const groupRoles: Parse<readonly GroupRole[]> = (value) =>
  (value ?? '')
    .split(/[;\n]/)
    .map((rule) => rule.trim())
    .filter((rule) => rule !== '')
    .map(groupRole)

function groupRole(rule: string): GroupRole {
  const found = OF_CLIENTS.exec(rule)
  const group = rule.slice(0, found?.index ?? 0).trim()
  const role = ROLES.find((known) => known === found?.[1])
  const clients = found === null ? [] : list(rule.slice(found.index + found[0].length))
  if (group === '' || role === undefined || clients.length === 0) {
    throw new Error(
      'must be rules like "admins: owner of all; acme team: editor of Acme, Acme Labs", ' +
        `with ${ROLES.join(', ')} and names or ids of clients: ${JSON.stringify(rule)} is not one`,
    )
  }
  return { group, role, clients: clients.length === 1 && clients[0] === 'all' ? null : clients }
}

/** The issuer address exactly as the provider's tokens name it: a trailing slash is part of it. */
export function issuerUrl(value: string): string {
  const url = URL.parse(value)
  const isSafe = url?.protocol === 'https:' || (url?.protocol === 'http:' && LOOPBACK.test(url.hostname))
  if (url === null || !isSafe || url.username + url.password !== '' || /[?#]/.test(value)) {
    throw new Error('must be an https address like https://login.example.com/realms/agency')
  }
  return url.href
}

const LOOPBACK = /^(localhost|\[::1\]|127(\.\d{1,3}){3})$/

/** OAuth scopes, separated by spaces or commas. */
export const scopes =
  (fallback: readonly string[]): Parse<readonly string[]> =>
  (value) => {
    const given = (value ?? '').split(/[\s,]+/).filter((scope) => scope !== '')
    if (given.length === 0) return fallback
    if (!given.includes('openid') || given.some((scope) => !/^[\x21\x23-\x5b\x5d-\x7e]+$/.test(scope))) {
      throw new Error('must be a list like "openid email profile", with openid in it')
    }
    return given
  }

/** One line of text, at most 60 characters. */
export function label(value: string): string {
  if (/[\p{Cc}\u2028-\u202e\u2066-\u2069]/u.test(value)) {
    throw new Error('must be one line without control characters or characters that change the direction of text')
  }
  if (value.length > 60) throw new Error('must have at most 60 characters')
  return value
}

/** A list of names, or the fallback. */
export const names =
  (fallback: readonly string[]): Parse<readonly string[]> =>
  (value) => {
    const given = list(value)
    return given.length === 0 ? fallback : given
  }

const PROXY_GROUPS = ['loopback', 'linklocal', 'uniquelocal']

/** IP addresses, CIDR ranges, or the names in `PROXY_GROUPS`, which stand for private ranges. */
export const proxies: Parse<readonly string[]> = (value) => {
  const entries = list(value)
  const isProxy = (entry: string): boolean => {
    const [address = '', prefix, ...rest] = entry.split('/')
    const bits = isIP(address) === 6 ? 128 : 32
    const isRange = prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) > 0 && Number(prefix) <= bits)
    return PROXY_GROUPS.includes(entry) || (isIP(address) !== 0 && isRange && rest.length === 0)
  }
  if (!entries.every(isProxy)) {
    const groups = PROXY_GROUPS.join(', ')
    throw new Error(`must be addresses and CIDR ranges separated by commas, or ${groups}; /0 would trust every caller`)
  }
  return entries
}

/** Addresses and CIDR ranges of proxies that may name the person signed in. The names in `PROXY_GROUPS` are too wide for that. */
export const proxyAddresses: Parse<readonly string[]> = (value) => {
  const entries = list(value)
  const isNamed = (entry: string): boolean => isIP(entry.split('/', 1).join()) !== 0 && !/\/0+$/.test(entry)
  if (!entries.every(isNamed)) {
    throw new Error('must be addresses and CIDR ranges of proxies, separated by commas')
  }
  return proxies(value)
}

/** The shortest prefixes that can still be a single network of one's own machines or containers. */
const WIDEST = { ipv4: 16, ipv6: 48 }

/** Whether a range is so wide that it probably contains other machines than the proxy. */
export function isWideForProxy(range: string): boolean {
  const [address = '', prefix] = range.split('/')
  return prefix !== undefined && Number(prefix) < (address.includes(':') ? WIDEST.ipv6 : WIDEST.ipv4)
}

const HEADER_NAME = /^[a-z0-9!#$%&'*+.^_`|~-]+$/

/** Headers that callers or other proxies set for other purposes, so none of them can identify a person. */
const TAKEN_HEADERS =
  /^(accept.*|authorization|connection|content-.*|cookie|host|if-.*|origin|range|referer|sec-.*|te|transfer-encoding|upgrade|user-agent|x-forwarded-(for|host|port|proto))$/

/** The lower-cased name of a header in which a proxy identifies the person. */
export function identityHeader(value: string): string {
  const name = value.toLowerCase()
  if (!HEADER_NAME.test(name) || TAKEN_HEADERS.test(name)) {
    throw new Error('must be the name of a header that only the proxy sets, like X-Forwarded-Email')
  }
  return name
}

/** Lower-cased header names, as Node gives them. */
export const headerNames =
  (fallback: readonly string[]): Parse<readonly string[]> =>
  (value) => {
    const names = list(value).map((name) => name.toLowerCase())
    if (names.some((name) => !HEADER_NAME.test(name))) {
      throw new Error('must be header names separated by commas')
    }
    return names.length === 0 ? fallback : names
  }

/** An http or https address, without its trailing slash. */
export function httpUrl(value: string): string {
  const url = URL.parse(value)
  if (url === null || !/^https?:$/.test(url.protocol) || url.username + url.password !== '' || /[?#]/.test(value)) {
    throw new Error('must be an address like https://tagwarden.example.com')
  }
  return withoutEnd(value, '/')
}

/** An http or https address including its query. */
export function httpUrlWithQuery(value: string): string {
  const url = URL.parse(value)
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new Error('must be an address like https://tagwarden.example.com/oauth2/sign_out')
  }
  return url.href
}

/** An http or https address without its trailing slash, or the fallback. */
export const httpUrlOr =
  (fallback: string): Parse<string> =>
  (value) =>
    value === undefined ? fallback : httpUrl(value)

/** An http or https address with the placeholder `{container_id}`. */
export function containerUrl(value: string): string {
  const url = URL.parse(value.replace('{container_id}', 'id'))
  if (url === null || !/^https?:$/.test(url.protocol) || !value.includes('{container_id}')) {
    throw new Error('must be an address like https://host.example.com/status/{container_id}')
  }
  return value
}

const URLS_MAX = 5

/** Addresses separated by commas; `off` means none. */
export const urlsUnlessOff =
  (fallback: readonly string[]): Parse<readonly string[]> =>
  (value) => {
    if (value === undefined) return fallback
    if (value === 'off') return []
    const urls = list(value)
    const isUrl = (url: string): boolean => /^https?:$/.test(URL.parse(url)?.protocol ?? '')
    if (urls.length === 0 || urls.length > URLS_MAX || !urls.every(isUrl)) {
      throw new Error(`must be up to ${URLS_MAX} addresses like https://example.com/ separated by commas, or off`)
    }
    return urls
  }

/** An http or https address, unchanged and with its query, because services put keys there. */
export function webhookUrl(value: string): string {
  const url = URL.parse(value)
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new Error('must be an address like https://hooks.example.com/services/…')
  }
  return value
}

export function smtpUrl(value: string): string {
  const url = URL.parse(value)
  if (url === null || !/^smtps?:$/.test(url.protocol) || url.hostname === '') {
    throw new Error('must be an address like smtp://user:password@mail.example.com:587 or smtps://…')
  }
  return value
}

/** An e-mail address, alone or in angle brackets after a name. */
export function mailbox(value: string): string {
  if (!/^([^<>\r\n]*<[^\s<>@]+@[^\s<>@]+>|[^\s<>@]+@[^\s<>@]+)$/.test(value)) {
    throw new Error('must be an address like alerts@example.com or Tagwarden <alerts@example.com>')
  }
  return value
}

export function emailAddress(value: string): string {
  if (!/^[^\s<>@,]+@[^\s<>@,]+$/.test(value) || value.length > 254)
    throw new Error('must be one address like ada@example.com')
  return value
}

/** The fields used of a service account's key, named as in its JSON file. */
interface GoogleKey {
  client_email: string
  private_key: string
  token_uri: string
}

export function googleCredentials(value: string): GoogleKey {
  const refusal = new Error('must be the JSON key of a service account')
  let key: unknown
  try {
    key = JSON.parse(value)
  } catch {
    throw refusal
  }
  if (typeof key !== 'object' || key === null || !('client_email' in key) || !('private_key' in key)) throw refusal
  const { client_email, private_key } = key
  if (typeof client_email !== 'string' || typeof private_key !== 'string') throw refusal
  const token_uri = 'token_uri' in key ? key.token_uri : 'https://oauth2.googleapis.com/token'
  if (typeof token_uri !== 'string') throw refusal
  return { client_email, private_key, token_uri }
}

export function token(value: string): string {
  if (!/^[\x21-\x7e]{16,512}$/.test(value)) throw new Error('must be 16 to 512 visible ASCII characters without spaces')
  return value
}

/** Checks only the scheme; the PostgreSQL engine parses the rest. */
export const postgresUrl = (value: string): string => {
  if (!/^postgres(ql)?:\/\/./.test(value))
    throw new Error('must be an address like postgres://user:password@host:5432/database')
  return value
}
