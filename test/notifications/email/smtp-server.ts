import type { Server, Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import type { TestContext } from 'node:test'
import { SMTPServer, type SMTPServerOptions, type SMTPServerSession } from 'smtp-server'
import { createAuthority, createCertificate, trust } from '../../outbound/certificates.ts'

export interface Mail {
  /** As it came, headers and all. */
  raw: string
  from: string
  to: string[]
  /** Who logged in. */
  user: string | null
  isEncrypted: boolean
}

export interface MailServer {
  port: number
  mails: Mail[]
}

/** A real SMTP server on a port of its own at 127.0.0.1, which keeps what it gets. Without `options` it has neither TLS nor logins. */
export async function mailServer(t: TestContext, options: SMTPServerOptions = {}): Promise<MailServer> {
  const mails: Mail[] = []
  const server = new SMTPServer({
    disabledCommands: [
      ...(options.onAuth === undefined ? ['AUTH'] : []),
      ...(options.key === undefined ? ['STARTTLS'] : []),
    ],
    disableReverseLookup: true,
    logger: false,
    onData(stream, session, done) {
      void text(stream).then((raw) => {
        mails.push({ raw, ...envelopeOf(session) })
        done()
      })
    },
    ...options,
  })
  // Clients that hang up in the middle are what some tests are about.
  server.on('error', () => {})
  const net: Server = server.server
  const sockets = new Set<Socket>()
  net.on('connection', (socket: Socket) => sockets.add(socket.on('close', () => sockets.delete(socket))))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(async () => {
    for (const socket of sockets) socket.destroy()
    await new Promise<void>((resolve) => server.close(resolve))
  })
  const address = net.address()
  return { port: typeof address === 'object' && address !== null ? address.port : 0, mails }
}

function envelopeOf({ envelope, user, secure }: SMTPServerSession): Omit<Mail, 'raw'> {
  return {
    from: envelope.mailFrom === false ? '' : envelope.mailFrom.address,
    to: envelope.rcptTo.map(({ address }) => address),
    user: user ?? null,
    isEncrypted: secure,
  }
}

// Once, and before there is any connection: done for each test, it ended Node 24.21 with a segmentation fault now and then.
const trusted = await createAuthority('Mail tests, trusted')
trust(trusted)

/** A certificate for `localhost`, of an authority that this process trusts or of one that it does not. */
export async function certificateFor(isTrusted: boolean): Promise<{ key: string; cert: string }> {
  const authority = isTrusted ? trusted : await createAuthority('Mail tests, unknown')
  const { key, chain } = await createCertificate({ authority, host: 'localhost', addresses: ['127.0.0.1'] })
  return { key, cert: chain }
}

/** Takes the login `user` with `pass:word`. */
export const login: NonNullable<SMTPServerOptions['onAuth']> = (auth, _session, done) =>
  auth.username === 'user' && auth.password === 'pass:word'
    ? done(null, { user: 'user' })
    : done(Object.assign(new Error('5.7.8 wrong: pass:word'), { responseCode: 535 }))

export const smtpError = (responseCode: number, message: string): Error =>
  Object.assign(new Error(message), { responseCode })
