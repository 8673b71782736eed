import { isIP } from 'node:net'
import { asError, SECOND } from '../../lib/index.ts'
import { cut, oneLine } from '../cards/card.ts'
import { addressesIn, asServersSeeIt, type DigestReaders } from '../digest-readers.ts'
import type { Message, MessageGroup } from '../message.ts'
import type { SendOutcome, Transport } from '../transport.ts'
import { composeEmail } from './compose.ts'
import { sendDigest } from './digest.ts'
import { type Mailer, missedOf } from './mail.ts'

export interface EmailOptions {
  /** `SMTP_URL` */
  smtpUrl: string
  /** `SMTP_FROM` */
  smtpFrom: string
  timeouts?: Partial<SmtpTimeouts>
}

/**
 * Makes a mailer for one server. Each e-mail has its own connection: there are few, servers close idle connections, and an e-mail
 * that fails on an old connection may not be at fault.
 */
export function createMailer({ smtpUrl, smtpFrom, timeouts = {} }: EmailOptions): Mailer {
  const server = smtpServer(smtpUrl)
  const from = mailboxOf(smtpFrom)
  const domain = from.address.slice(from.address.lastIndexOf('@') + 1)
  // E-mails are composed here, so nothing in them may name a file or an address to read.
  const options = { ...server, ...SMTP_TIMEOUTS, ...timeouts, disableFileAccess: true, disableUrlAccess: true }
  return {
    async send({ to, subject, text, html, at, id, thread, list, unsubscribeUrl }, signal) {
      // The same on every e-mail of a thread, including the first: no e-mail has it as its own id.
      const reference = thread === null ? null : `<alert.${idPart(thread)}@${domain}>`
      try {
        const { createTransport } = await nodemailer()
        const { rejected, rejectedErrors } = await createTransport(options).sendMail({
          from,
          to: to.map((address) => ({ name: '', address })),
          subject,
          text,
          html,
          date: new Date(at),
          messageId: `<${idPart(id)}@${domain}>`,
          ...(reference === null ? {} : { references: reference, inReplyTo: reference }),
          headers: {
            // Prevents out-of-office replies (RFC 3834; the second header is Exchange's).
            'Auto-Submitted': 'auto-generated',
            'X-Auto-Response-Suppress': 'All',
            'List-Id': `<${idPart(list)}.tagwarden.${domain}>`,
            ...(unsubscribeUrl !== undefined && {
              'List-Unsubscribe': `<${unsubscribeUrl}>`,
              'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
            }),
          },
          signal,
        })
        // The note holds no addresses, because viewers may see it.
        if (rejected.length === 0) return { kind: 'delivered' }
        const isPutOff = (error: unknown) => outcomeOfFailure(error, server.host).kind === 'passing'
        const errors = rejectedErrors ?? []
        const putOff = errors
          .filter(isPutOff)
          .flatMap((error) => ('recipient' in error ? [String(error.recipient)] : []))
        const worst = failureOf(errors.find((error) => !isPutOff(error)) ?? errors[0])
        return {
          kind: 'delivered',
          note: `${missedOf(rejected.length, to.length, putOff.length)}, ${saidBy(server.host, worst)}`,
          ...(putOff.length > 0 && { left: putOff.map(asServersSeeIt) }),
        }
      } catch (thrown) {
        return mildestOutcome(thrown, server.host)
      }
    },
  }
}

/** Makes the transport for e-mail. */
export function createEmailTransport(mailer: Mailer, readersOf: DigestReaders): Transport {
  return {
    async send(order, signal) {
      const { address, message, idempotencyKey, publicUrl, at, only } = order
      const to = addressesIn(address)
      const left = only === undefined ? to : to.filter((one) => only.includes(asServersSeeIt(one)))
      if (left.length === 0) return { kind: 'message_refused', error: 'the address was removed from the channel' }
      if (message.kind === 'digest') {
        return sendDigest(mailer, await readersOf(message.client.id, left), { ...order, message }, signal)
      }
      const { subject, text, html, thread } = composeEmail(message, { publicUrl, at })
      return mailer.send(
        { to: left, subject, text, html, thread, at, id: idempotencyKey, list: listOf(message) },
        signal,
      )
    },
  }
}

/**
 * Loaded with the first e-mail: these are 40 modules, a tenth of the cost of starting the service, and most installations have no
 * SMTP server.
 */
const nodemailer = () => import('nodemailer')

/** Returns the list for rules in mail programs, one per client. */
const listOf = (message: Message | MessageGroup): string =>
  'client' in message ? (message.client?.id ?? 'all') : 'own'

/** Keeps the characters that an id may have in a header. */
const idPart = (text: string): string => text.replace(/[^\w.-]+/g, '.')

/** What nodemailer reports about a failure. */
interface SmtpFailure {
  /** Such as `EAUTH`. */
  code: string | null
  /** The system's code: `ECONNREFUSED`, `CERT_HAS_EXPIRED`. */
  cause: string | null
  /** The command that failed: `RCPT TO`. */
  command: string | null
  /** Status of the server's reply; null without a reply. */
  status: number | null
  reply: string | null
  message: string
}

/** Replies to any command that ask for a login or refuse it (RFC 4954). */
const LOGIN_STATUSES = [530, 534, 535, 538]

/**
 * Returns what a failure means for the e-mail and its channel. A channel is one recipient's, but a fault of the server or of our
 * own setup affects all of them and passes once it is fixed. No error holds the password.
 */
export function outcomeOfFailure(thrown: unknown, host: string): SendOutcome {
  const failure = failureOf(thrown)
  const { code, command, status } = failure
  const said = saidBy(host, failure)
  if (code === 'EABORT') return passing('the attempt was cancelled')
  if (code === 'EAUTH' || code === 'ENOAUTH' || (status !== null && LOGIN_STATUSES.includes(status))) {
    return passing(
      `${host} refused the login (${status ?? 'no method in common'}): check user and password in SMTP_URL`,
    )
  }
  if (isAboutTls(failure)) return passing(`no secure encryption with ${host}: ${failure.reply ?? failure.message}`)
  if (status === null) return withoutReply(failure, host)
  if (command === 'RCPT TO') return ofRecipient(failure, said, host)
  if (status < 500) return passing(said)
  if (command === 'DATA' && isFull(failure)) return { ...passing(said), ofAddress: true }
  if (command === 'DATA' && UNAUTHENTICATED.test(said)) return aboutUs(said, host)
  if (command === 'DATA') return { kind: 'message_refused', error: said }
  return passing(command === 'MAIL FROM' ? `${said} (check SMTP_FROM)` : said)
}

const saidBy = (host: string, { reply, message }: SmtpFailure): string => `${host} said: ${reply ?? message}`

const withoutReply = ({ code, message }: SmtpFailure, host: string): SendOutcome =>
  code === 'EENVELOPE'
    ? { kind: 'channel_broken', error: 'e-mail cannot be sent to this address' }
    : passing(code === 'ETIMEDOUT' ? `${host} did not answer in time` : `${host} could not be reached: ${message}`)

/** Returns the outcome when all recipients may have been refused: the address of a channel counts as wrong only if all of it does. */
function mildestOutcome(thrown: unknown, host: string): SendOutcome {
  const outcome = outcomeOfFailure(thrown, host)
  const all = thrown instanceof Error && 'rejectedErrors' in thrown ? thrown.rejectedErrors : []
  const outcomes = Array.isArray(all) ? all.map((error) => outcomeOfFailure(error, host)) : []
  return outcomes.find(({ kind }) => kind === 'passing') ?? outcome
}

/**
 * Servers wait for the recipient until they refuse a sender, or a server that they do not relay for. That is about all addresses:
 * codes of policy (RFC 3463, 5.7.x) and of the sender's address, and the word without a code. Beside a code it may be Postfix's
 * `5.1.1 User unknown in relay recipient table`.
 */
const ABOUT_US = /\b5\.(7\.\d+|1\.[78])\b|^(?!.*\b5\.\d+\.\d+\b).*\brelay/i

/**
 * SPF, DKIM or DMARC failed (RFC 7372, and two codes of Microsoft's), which holds for all e-mails; other refusals of a whole e-mail
 * are of its contents.
 */
const UNAUTHENTICATED = /\b5\.7\.(2\d|509|515)\b/

const aboutUs = (said: string, host: string) => passing(`${said} (check what ${host} lets this server send)`)

/** Whether a mailbox is full. It will be emptied. */
const isFull = ({ reply }: SmtpFailure): boolean => /\b5\.2\.2\b/.test(reply ?? '')

/** Returns the outcome for a refused recipient. */
function ofRecipient(failure: SmtpFailure, said: string, host: string): SendOutcome {
  const { status, reply } = failure
  const later = { ...passing(said), ofAddress: true } as const
  if (status === null || status < 500 || status === 552 || isFull(failure)) return later
  if (ABOUT_US.test(reply ?? '')) return { ...later, ...aboutUs(said, host) }
  return { kind: 'channel_broken', error: said }
}

/** Whether the code, of OpenSSL or Node, is about certificates or TLS. */
const isAboutTls = ({ code, cause }: SmtpFailure): boolean =>
  code === 'ETLS' || /CERT|SIGNATURE|ISSUER|SELF_SIGNED|^ERR_(TLS|SSL)|^EPROTO$/.test(cause ?? '')

const passing = (error: string) => ({ kind: 'passing', error }) as const

function failureOf(thrown: unknown): SmtpFailure {
  const error = asError(thrown)
  const fields: Record<string, unknown> = { ...error }
  const text = (value: unknown) => (typeof value === 'string' && value !== '' ? value : null)
  const reply = text(fields.response)
  return {
    code: text(fields.code),
    cause: text(fields.originalCode),
    command: text(fields.command),
    status: typeof fields.responseCode === 'number' && fields.responseCode > 0 ? fields.responseCode : null,
    reply: reply === null ? null : shown(reply),
    message: shown(error.message),
  }
}

/** Characters of a reply that are read: servers may send megabytes. */
const REPLY_MAX = 2_000

/** Cuts a server's text and hides addresses in it, because not everyone who sees failures may see those. */
const shown = (text: string): string =>
  cut(
    oneLine(text.slice(0, REPLY_MAX)).replace(/[^\s<>"']+/g, (word) => (/.@./.test(word) ? '…' : word)),
    200,
  )

/** The settings in `SMTP_URL`, for nodemailer. */
export interface SmtpServer {
  host: string
  port: number
  /** TLS from the first byte. */
  secure: boolean
  /** Fails when the server offers no STARTTLS, which is used wherever it is offered. */
  requireTLS: boolean
  auth?: { user: string; pass: string }
}

/**
 * Returns the settings in `SMTP_URL`. `smtps://` is TLS from the first byte, `smtp://` begins unencrypted. A password is sent
 * unencrypted to this machine only: an eavesdropper elsewhere could also remove STARTTLS from the server's offer.
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

interface SmtpTimeouts {
  connectionTimeout: number
  greetingTimeout: number
  /** Time without a byte from either side. */
  socketTimeout: number
  dnsTimeout: number
  /** Time that the server has to close the connection after we did. */
  socketCloseTimeout: number
}

/**
 * Some servers delay their greeting on purpose, to deter spammers. Others answer only when an e-mail was scanned or copied,
 * Exchange after up to 30 s: given up earlier, the e-mail would arrive once per attempt.
 */
const SMTP_TIMEOUTS: SmtpTimeouts = {
  connectionTimeout: 10 * SECOND,
  greetingTimeout: 15 * SECOND,
  socketTimeout: 60 * SECOND,
  dnsTimeout: 10 * SECOND,
  socketCloseTimeout: SECOND,
}

interface Mailbox {
  name: string
  address: string
}

/** Parses `alerts@example.com` or `Tagwarden <alerts@example.com>`, checked when the settings were read. */
export function mailboxOf(text: string): Mailbox {
  const named = /^(.*)<([^<>]+)>$/.exec(text.trim())
  if (named === null) return { name: 'Tagwarden', address: text.trim() }
  return { name: (named[1] ?? '').trim().replace(/^"(.*)"$/, '$1'), address: named[2] ?? '' }
}

const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'))

/** Decodes a part of the URL. A password with a lone `%` was not encoded. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
