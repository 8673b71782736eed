import { createTransport } from 'nodemailer'
import type { Message, MessageGroup } from '../message.ts'
import type { Transport } from '../transport.ts'
import { composeEmail } from './compose.ts'
import { outcomeOfFailure } from './outcome.ts'
import { mailboxOf, SMTP_TIMEOUTS, type SmtpTimeouts, smtpServer } from './settings.ts'

export interface EmailOptions {
  /** `SMTP_URL` */
  smtpUrl: string
  /** `SMTP_FROM` */
  smtpFrom: string
  timeouts?: Partial<SmtpTimeouts>
}

/**
 * Sends e-mail over one server. Each e-mail has a connection of its own: they are few, servers hang up on those that idle, and
 * an e-mail that fails over an old connection is not known to have failed by its own fault.
 */
export function createEmailTransport({ smtpUrl, smtpFrom, timeouts = {} }: EmailOptions): Transport {
  const server = smtpServer(smtpUrl)
  const from = mailboxOf(smtpFrom)
  const domain = from.address.slice(from.address.lastIndexOf('@') + 1)
  // An e-mail is made here from start to end: nothing in it may name a file or an address to be read.
  const mailer = createTransport({
    ...server,
    ...SMTP_TIMEOUTS,
    ...timeouts,
    disableFileAccess: true,
    disableUrlAccess: true,
  })
  return {
    async send({ address, message, idempotencyKey, publicUrl, at }, signal) {
      const { subject, text, html, thread } = composeEmail(message, { publicUrl, at })
      // The same on every e-mail of an alert, the first one too: no e-mail has it as its own id.
      const reference = thread === null ? null : `<alert.${idPart(thread)}@${domain}>`
      try {
        const { rejected } = await mailer.sendMail({
          from,
          to: address.split(',').map((one) => ({ name: '', address: one.trim() })),
          subject,
          text,
          html,
          date: new Date(at),
          messageId: `<${idPart(idempotencyKey)}@${domain}>`,
          ...(reference === null ? {} : { references: reference, inReplyTo: reference }),
          headers: {
            // Keeps those on holiday from answering (RFC 3834; the other is Exchange's).
            'Auto-Submitted': 'auto-generated',
            'X-Auto-Response-Suppress': 'All',
            'List-Id': `<${listOf(message)}.tagwarden.${domain}>`,
          },
          signal,
        })
        // Viewers may see the note, and are not to see addresses.
        return rejected.length === 0
          ? { kind: 'delivered' }
          : { kind: 'delivered', note: `${rejected.length} of the addresses were refused by ${server.host}` }
      } catch (thrown) {
        return outcomeOfFailure(thrown, server.host)
      }
    },
  }
}

/** For rules in mail clients: a folder for each client. */
const listOf = (message: Message | MessageGroup): string => ('client' in message ? idPart(message.client.id) : 'own')

/** Letters, digits and dots, which an id may have in a header. */
const idPart = (text: string): string => text.replace(/[^\w.-]+/g, '.')
