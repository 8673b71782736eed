import { domainToASCII } from 'node:url'
import { isUuid } from '../lib/index.ts'

/** Longest address that SMTP can carry (RFC 5321, 4.5.3.1.3, without the angle brackets). */
const MAX_EMAIL_LENGTH = 254
const MAX_URL_LENGTH = 2_048

/** Most addresses in one field. */
const MOST_EMAILS = 10

/** Before the @: ASCII as in RFC 5322, and letters of other scripts (RFC 6531). */
const LOCAL_PART = /^[a-z0-9!#$%&'*+/=?^_`{|}~.\-\p{L}\p{M}\p{N}]+$/iu
const DOMAIN_LETTERS = /^[\p{L}\p{M}\p{N}.-]+$/u
const DOMAIN = /^([a-z0-9-]+\.)+[a-z0-9-]+$/i
const ISO_TIME = /^(\d{4}-\d{2}-\d{2})T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2})$/

// Ajv checks the format even of a text beyond its `maxLength`, so each check limits its own work.
function isEmail(text: string): boolean {
  if (text.length > MAX_EMAIL_LENGTH) return false
  const [local = '', given = '', ...rest] = text.split('@')
  // Domains in other scripts have an ASCII form; without one it is not a domain.
  const domain = domainToASCII(given)
  if (rest.length > 0 || !LOCAL_PART.test(local) || !DOMAIN_LETTERS.test(given) || !DOMAIN.test(domain)) return false
  const dotsInPlace = !local.startsWith('.') && !local.endsWith('.') && !local.includes('..')
  return dotsInPlace && domain.split('.').every((label) => !label.startsWith('-') && !label.endsWith('-'))
}

/** One address or several separated by commas, as people type them into an e-mail. */
export function areEmails(text: string): boolean {
  if (text.length > MOST_EMAILS * (MAX_EMAIL_LENGTH + 2)) return false
  const addresses = text.split(',')
  return addresses.length <= MOST_EMAILS && addresses.every((address) => isEmail(address.trim()))
}

export function isHttpUrl(text: string): boolean {
  if (text.length > MAX_URL_LENGTH || !/^https?:\/\/[^\s/]/i.test(text)) return false
  const url = /\s/.test(text) ? null : URL.parse(text)
  // A user name and password in it are never sent, and would be shown to everyone who sees the address.
  return url !== null && url.username === '' && url.password === ''
}

/** An ISO 8601 time with an offset. */
export function isIsoTime(text: string): boolean {
  const day = ISO_TIME.exec(text)?.[1]
  if (day === undefined || Number.isNaN(Date.parse(text))) return false
  // `Date.parse` accepts 30 February as 2 March.
  return new Date(`${day}T00:00:00Z`).toISOString().startsWith(day)
}

/** A calendar day, as in `2026-11-27`. */
const isDate = (text: string): boolean => /^\d{4}-\d{2}-\d{2}$/.test(text) && isIsoTime(`${text}T00:00Z`)

/** A name in the IANA time zone database; offsets such as `+01:00`, which `Intl` accepts too, have no summer time. */
function isTimeZone(text: string): boolean {
  if (!/^[A-Za-z][A-Za-z0-9_+/-]{0,63}$/.test(text)) return false
  try {
    new Intl.DateTimeFormat('en', { timeZone: text })
    return true
  } catch {
    return false
  }
}

const CURRENCIES: ReadonlySet<string> = new Set(Intl.supportedValuesOf('currency'))

interface TextFormat {
  test: (text: string) => boolean
  /** Ends the sentence "must be …". */
  expects: string
}

/** The formats that a schema's `format` may name. */
export const FORMATS: Readonly<Record<string, TextFormat>> = {
  uuid: { test: isUuid, expects: 'a UUID' },
  email: { test: isEmail, expects: 'an e-mail address' },
  'email-list': { test: areEmails, expects: `an e-mail address, or up to ${MOST_EMAILS} separated by commas` },
  'http-url': {
    test: isHttpUrl,
    expects: 'an http or https address like https://shop.example, without a user name or password',
  },
  'date-time': { test: isIsoTime, expects: 'an ISO 8601 time like 2026-11-20T09:40:00.000Z' },
  date: { test: isDate, expects: 'a day like 2026-11-27' },
  currency: { test: (text) => CURRENCIES.has(text), expects: 'a currency code (ISO 4217) like EUR' },
  'time-zone': { test: isTimeZone, expects: 'an IANA time zone like Europe/Berlin' },
}

/** What stands before the path where a request's target is a full URL, as in requests to proxies. */
const ORIGIN = /^https?:\/\/[^/?#]*/i

/** The path of a request's target as the router reads it, so that code without a route's pattern sees only one spelling. */
export function pathOf(target: string): string {
  const [path = ''] = target.replace(ORIGIN, '').split(/[?#]/, 1)
  if (!path.includes('%')) return path
  try {
    return decodeURI(path)
  } catch {
    // The router refuses it.
    return path
  }
}
