import { domainToASCII } from 'node:url'
import { isUuid } from '../lib/index.ts'

/** Longest address that SMTP can carry (RFC 5321, 4.5.3.1.3, without the angle brackets). */
const MAX_EMAIL_LENGTH = 254
const MAX_URL_LENGTH = 2_048

/** Addresses in one field; each adds what SMTP can carry. */
const MOST_EMAILS = 10

/** Before the @: ASCII as RFC 5322 has it, and letters of other scripts (RFC 6531), which no address of a domain needs. */
const LOCAL_PART = /^[a-z0-9!#$%&'*+/=?^_`{|}~.\-\p{L}\p{M}\p{N}]+$/iu
const DOMAIN_LETTERS = /^[\p{L}\p{M}\p{N}.-]+$/u
const DOMAIN = /^([a-z0-9-]+\.)+[a-z0-9-]+$/i
const ISO_TIME = /^(\d{4}-\d{2}-\d{2})T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2})$/

// Ajv checks the format of a text even when it is over its `maxLength`, so each check bounds its own work.
function isEmail(text: string): boolean {
  if (text.length > MAX_EMAIL_LENGTH) return false
  const [local = '', given = '', ...rest] = text.split('@')
  // Domains of other scripts have a form in ASCII; what has none is no domain.
  const domain = domainToASCII(given)
  if (rest.length > 0 || !LOCAL_PART.test(local) || !DOMAIN_LETTERS.test(given) || !DOMAIN.test(domain)) return false
  const dotsInPlace = !local.startsWith('.') && !local.endsWith('.') && !local.includes('..')
  return dotsInPlace && domain.split('.').every((label) => !label.startsWith('-') && !label.endsWith('-'))
}

/** One address or several with commas between them, as people type them into a mail. */
export function areEmails(text: string): boolean {
  if (text.length > MOST_EMAILS * (MAX_EMAIL_LENGTH + 2)) return false
  const addresses = text.split(',')
  return addresses.length <= MOST_EMAILS && addresses.every((address) => isEmail(address.trim()))
}

export function isHttpUrl(text: string): boolean {
  if (text.length > MAX_URL_LENGTH || !/^https?:\/\/[^\s/]/i.test(text)) return false
  const url = /\s/.test(text) ? null : URL.parse(text)
  // A name and a password in it are never sent, and would be shown to all who see the address.
  return url !== null && url.username === '' && url.password === ''
}

/** An ISO 8601 time with its offset. */
export function isIsoTime(text: string): boolean {
  const day = ISO_TIME.exec(text)?.[1]
  if (day === undefined || Number.isNaN(Date.parse(text))) return false
  // `Date.parse` takes 30 February for 2 March.
  return new Date(`${day}T00:00:00Z`).toISOString().startsWith(day)
}

/** A day of the calendar, as in `2026-11-27`. */
const isDate = (text: string): boolean => /^\d{4}-\d{2}-\d{2}$/.test(text) && isIsoTime(`${text}T00:00Z`)

/** A name of the IANA time zone database; offsets such as `+01:00`, which `Intl` takes too, know no summer time. */
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
  'email-list': { test: areEmails, expects: `an e-mail address, or up to ${MOST_EMAILS} with commas between them` },
  'http-url': {
    test: isHttpUrl,
    expects: 'an http or https address like https://shop.example, without a user name or password',
  },
  'date-time': { test: isIsoTime, expects: 'an ISO 8601 time like 2026-11-20T09:40:00.000Z' },
  date: { test: isDate, expects: 'a day like 2026-11-27' },
  currency: { test: (text) => CURRENCIES.has(text), expects: 'a currency code (ISO 4217) like EUR' },
  'time-zone': { test: isTimeZone, expects: 'an IANA time zone like Europe/Berlin' },
}

/** The path of a request's target as the router reads it: what decides by a path without a route's pattern sees one spelling of it. */
export function pathOf(target: string): string {
  const [path = ''] = target.split(/[?#]/, 1)
  if (!path.includes('%')) return path
  try {
    return decodeURI(path)
  } catch {
    // The router refuses it.
    return path
  }
}
