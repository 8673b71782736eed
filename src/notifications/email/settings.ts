import { isIP } from 'node:net'
import { SECOND } from '../../lib/index.ts'

/** What `SMTP_URL` says, for nodemailer. */
export interface SmtpServer {
  host: string
  port: number
  /** TLS from the first byte on. */
  secure: boolean
  /** Fails where the server offers no STARTTLS; it is used wherever it is offered. */
  requireTLS: boolean
  auth?: { user: string; pass: string }
}

/**
 * `smtps://` is TLS from the first byte on, `smtp://` begins in the clear. A password goes in the clear to this machine only:
 * an eavesdropper elsewhere may also cut STARTTLS out of what the server offers.
 *
 * @param smtpUrl checked when the settings were read
 */
export function smtpServer(smtpUrl: string): SmtpServer {
  const url = new URL(smtpUrl)
  const secure = url.protocol === 'smtps:'
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const auth = url.username === '' ? null : { user: decoded(url.username), pass: decoded(url.password) }
  return {
    host,
    port: url.port === '' ? (secure ? 465 : 587) : Number(url.port),
    secure,
    requireTLS: !secure && auth !== null && !isLoopback(host),
    ...(auth === null ? {} : { auth }),
  }
}

export interface SmtpTimeouts {
  connectionTimeout: number
  greetingTimeout: number
  /** Without a byte from either side. */
  socketTimeout: number
  dnsTimeout: number
  /** For the server to hang up after we did, before its end is cut too. */
  socketCloseTimeout: number
}

/** Some servers keep strangers waiting for their greeting on purpose, to tire those who send spam. */
export const SMTP_TIMEOUTS: SmtpTimeouts = {
  connectionTimeout: 10 * SECOND,
  greetingTimeout: 15 * SECOND,
  socketTimeout: 20 * SECOND,
  dnsTimeout: 10 * SECOND,
  socketCloseTimeout: SECOND,
}

export interface Mailbox {
  name: string
  address: string
}

/** `alerts@example.com` or `Tagwarden <alerts@example.com>`, checked when the settings were read. */
export function mailboxOf(text: string): Mailbox {
  const named = /^(.*)<([^<>]+)>$/.exec(text.trim())
  if (named === null) return { name: 'Tagwarden', address: text.trim() }
  return { name: (named[1] ?? '').trim().replace(/^"(.*)"$/, '$1'), address: named[2] ?? '' }
}

const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'))

/** A password with a lone `%` was written as it is. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
