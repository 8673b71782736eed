import { deepEqual, equal, match, notEqual, ok } from 'node:assert/strict'
import { test } from 'node:test'
import type { SMTPServerOptions } from 'smtp-server'
import { sendWithin } from '../../../src/notifications/delivery/attempt.ts'
import type { DigestReaders } from '../../../src/notifications/digest-readers.ts'
import { createEmailTransport, createMailer, type EmailOptions } from '../../../src/notifications/email/transport.ts'
import type { Message, MessageGroup } from '../../../src/notifications/message.ts'
import type { SendOrder, SendOutcome } from '../../../src/notifications/transport.ts'
import { until } from '../../../testkit/until.ts'
import { tcpServer } from '../../outbound/support.ts'
import { AT, digest, KEY, opened, PUBLIC_URL, resolved, SAMPLES } from '../services/samples.ts'
import { certificateFor, login, mailServer, smtpError } from './smtp-server.ts'

const orderOf = (message: Message | MessageGroup, rest: Partial<SendOrder> = {}): SendOrder => ({
  address: 'ops@acme.example',
  message,
  idempotencyKey: KEY,
  channel: 'email:1',
  publicUrl: PUBLIC_URL,
  at: AT,
  ...rest,
})

const never = () => new AbortController().signal

/** Digests go to every address. */
const allOf: DigestReaders = async (_client, addresses) =>
  addresses.map((address, index) => ({ id: `reader-${index}`, address, secret: `secret-${index}` }))

const transportTo = (port: number, options: Partial<EmailOptions> = {}, user = '', host = '127.0.0.1') =>
  createEmailTransport(
    createMailer({
      smtpUrl: `smtp://${user}${host}:${port}`,
      smtpFrom: 'Tagwarden <alerts@tagwarden.example>',
      ...options,
    }),
    allOf,
  )

const header = (raw: string, name: string): string | null =>
  new RegExp(`^${name}: (.*(?:\\r?\\n[ \\t].*)*)`, 'im').exec(raw)?.[1]?.replace(/\r?\n[ \t]+/g, ' ') ?? null

const errorOf = (outcome: SendOutcome): string => ('error' in outcome ? outcome.error : '')

test('an alert arrives as text and HTML, from and to whom it should', async (t) => {
  const { port, mails } = await mailServer(t)
  deepEqual(await transportTo(port).send(orderOf(opened), never()), { kind: 'delivered' })
  equal(mails.length, 1)
  const [{ raw, from, to } = { raw: '', from: '', to: [] }] = mails
  deepEqual([from, to], ['alerts@tagwarden.example', ['ops@acme.example']])
  equal(header(raw, 'From'), 'Tagwarden <alerts@tagwarden.example>')
  equal(header(raw, 'To'), 'ops@acme.example')
  equal(header(raw, 'Message-ID'), `<${KEY}@tagwarden.example>`)
  equal(header(raw, 'Auto-Submitted'), 'auto-generated')
  equal(header(raw, 'List-Id'), `<${opened.client.id}.tagwarden.tagwarden.example>`)
  ok(!raw.includes('List-Unsubscribe'))
  equal(Date.parse(header(raw, 'Date') ?? ''), AT)
  equal(decodedSubject(raw), '[CRITICAL] shop.acme.com — Tag failures')
  match(raw, /^Content-Type: multipart\/alternative/im)
  ok(raw.indexOf('Content-Type: text/plain') < raw.indexOf('Content-Type: text/html'))
})

test('a digest is sent to each address separately, with the link that unsubscribes this one alone', async (t) => {
  const { port, mails } = await mailServer(t)
  const address = 'ops@acme.example, boss@acme.example'
  deepEqual(await transportTo(port).send(orderOf(digest, { address }), never()), { kind: 'delivered' })
  deepEqual(
    mails.map(({ to }) => to),
    [['ops@acme.example'], ['boss@acme.example']],
  )
  for (const [index, mail] of mails.entries()) {
    const raw = mail.raw.replaceAll('=\r\n', '')
    const link = `${PUBLIC_URL}/status/digests/secret-${index}`
    equal(header(raw, 'List-Unsubscribe'), `<${link}>`)
    equal(header(raw, 'List-Unsubscribe-Post'), 'List-Unsubscribe=One-Click')
    ok(raw.includes(`<${KEY}.reader-${index}@tagwarden.example>`), 'an id of its own')
    equal(raw.split(link).length - 1, 3, 'in the header, text and HTML')
  }
})

test('addresses of a digest that the server puts off or refuses keep it from no other', async (t) => {
  const { port, mails } = await mailServer(t, {
    onRcptTo({ address }, _session, done) {
      const [name = ''] = address.split('@')
      const answers: Record<string, Error> = {
        full: smtpError(452, '4.2.2 full'),
        gone: smtpError(550, '5.1.1 unknown'),
      }
      done(answers[name])
    },
  })
  const transport = transportTo(port)
  const send = (address: string) => transport.send(orderOf(digest, { address }), never())
  deepEqual(await send('full@acme.example, gone@acme.example, ops@acme.example'), {
    kind: 'delivered',
    note: '2 of 3 addresses were not reached, 127.0.0.1 said: 550 5.1.1 unknown',
    left: ['full@acme.example'],
  })
  equal(mails.length, 1)
  equal((await send('gone@acme.example, full@acme.example')).kind, 'passing')
  equal((await send('gone@acme.example')).kind, 'channel_broken')
})

test('a server that fails amid the addresses of a digest is not asked about the others', async (t) => {
  let asked = 0
  const { port } = await mailServer(t, {
    onMailFrom(_address, _session, done) {
      asked++
      done(asked > 1 ? smtpError(421, '4.3.2 closing') : null)
    },
  })
  deepEqual(
    await transportTo(port).send(orderOf(digest, { address: 'a@x.example, B@x.example, c@x.example' }), never()),
    {
      kind: 'delivered',
      note: '2 of 3 addresses were not reached yet, 127.0.0.1 said: 421 4.3.2 closing',
      left: ['b@x.example', 'c@x.example'],
    },
  )
  equal(asked, 2)
})

test('a digest that a server holds until the attempt is over is sent again only to those who do not have it', async (t) => {
  const { port, mails } = await mailServer(t, {
    onRcptTo: ({ address }, _session, done) => (address.startsWith('slow@') ? undefined : done()),
  })
  const order = orderOf(digest, { address: 'quick@x.example, slow@x.example' })
  const tools = { transports: { chat: transportTo(port), email: transportTo(port) } }
  const timings = { chatMs: 0, emailMs: 1_500, storeRetryMs: 0, backoffMs: () => 0 }
  deepEqual(await sendWithin({ ...tools, timings }, 'email', order, never()), {
    kind: 'delivered',
    note: '1 of 2 addresses was not reached yet, the attempt was cancelled',
    left: ['slow@x.example'],
  })
  deepEqual(
    mails.map(({ to }) => to),
    [['quick@x.example']],
  )
})

test('all e-mails about one alert name the same reference, each has an id of its own, and another alert has another', async (t) => {
  const { port, mails } = await mailServer(t)
  const transport = transportTo(port)
  const other = { ...opened, alert: { ...opened.alert, id: 'another' } }
  for (const [index, message] of [opened, SAMPLES.reminder ?? opened, resolved, other].entries()) {
    equal((await transport.send(orderOf(message, { idempotencyKey: `key-${index}` }), never())).kind, 'delivered')
  }
  const references = mails.map(({ raw }) => header(raw, 'References'))
  deepEqual(new Set(references.slice(0, 3)).size, 1)
  equal(references[0], `<alert.${opened.alert.id}@tagwarden.example>`)
  notEqual(references[3], references[0])
  deepEqual(
    mails.map(({ raw }) => header(raw, 'In-Reply-To')),
    references,
  )
  deepEqual(
    mails.map(({ raw }) => header(raw, 'Message-ID')),
    [0, 1, 2, 3].map((index) => `<key-${index}@tagwarden.example>`),
  )
})

test('names in any script arrive, and none makes a header of its own', async (t) => {
  const { port, mails } = await mailServer(t)
  const message = {
    ...opened,
    site: { ...opened.site, name: 'Café 東京 😀\r\nBcc: everybody@evil.example' },
    client: { ...opened.client, name: 'Ünï\r\nX-Evil: 1', id: 'id\r\nX-Evil: 2' },
  }
  const order = orderOf(message, { idempotencyKey: 'key\r\nX-Evil: 3' })
  equal((await transportTo(port).send(order, never())).kind, 'delivered')
  const [{ raw, to } = { raw: '', to: [] }] = mails
  deepEqual(to, ['ops@acme.example'])
  const head = raw.slice(0, raw.search(/\r?\n\r?\n/))
  ok(!/^(Bcc|X-Evil):/im.test(head), head)
  equal(decodedSubject(raw), '[CRITICAL] Café 東京 😀 Bcc: everybody@evil.example — Tag failures')
})

test('each address between commas gets the e-mail, in whatever script', async (t) => {
  const { port, mails } = await mailServer(t)
  const address = 'ops@acme.example, büro@müller.example'
  deepEqual(await transportTo(port).send(orderOf(opened, { address }), never()), { kind: 'delivered' })
  deepEqual(
    mails.map(({ to }) => to),
    [['ops@acme.example', 'büro@müller.example']],
  )
})

test('an address is one recipient, whatever else is written into it', async (t) => {
  const { port, mails } = await mailServer(t)
  const address = 'ops@acme.example everybody@evil.example'
  const outcome = await transportTo(port).send(orderOf(opened, { address }), never())
  equal(outcome.kind, 'channel_broken')
  equal(mails.length, 0)
})

test('where STARTTLS is offered it is used, with a certificate that is trusted, and the login goes over it', async (t) => {
  const { port, mails } = await mailServer(t, { ...(await certificateFor(true)), onAuth: login })
  const transport = transportTo(port, {}, 'user:pass%3Aword@', 'localhost')
  deepEqual(await transport.send(orderOf(opened), never()), { kind: 'delivered' })
  deepEqual(
    mails.map(({ user, isEncrypted }) => ({ user, isEncrypted })),
    [{ user: 'user', isEncrypted: true }],
  )
})

test('smtps is encrypted from the first byte on', async (t) => {
  const { port, mails } = await mailServer(t, { ...(await certificateFor(true)), secure: true, onAuth: login })
  const transport = createEmailTransport(
    createMailer({
      smtpUrl: `smtps://user:pass%3Aword@localhost:${port}`,
      smtpFrom: 'alerts@tagwarden.example',
    }),
    allOf,
  )
  deepEqual(await transport.send(orderOf(opened), never()), { kind: 'delivered' })
  equal(mails[0]?.isEncrypted, true)
  equal(header(mails[0]?.raw ?? '', 'From'), 'Tagwarden <alerts@tagwarden.example>')
})

test('a server whose certificate no one vouches for gets no e-mail; it passes, for it is a matter of the server', async (t) => {
  const { port, mails } = await mailServer(t, { ...(await certificateFor(false)), onAuth: login })
  const outcome = await transportTo(port, {}, 'user:pass%3Aword@', 'localhost').send(orderOf(opened), never())
  equal(outcome.kind, 'passing')
  match(errorOf(outcome), /encryption with localhost/)
  equal(mails.length, 0)
})

test('a login that is refused passes, with an error that says where to look and not what the password is', async (t) => {
  const { port } = await mailServer(t, { onAuth: login, allowInsecureAuth: true })
  const wrong = (_auth: unknown, _session: unknown, done: (error: Error) => void) =>
    done(smtpError(535, '5.7.8 not pass:word'))
  const { port: echoing } = await mailServer(t, { onAuth: wrong, allowInsecureAuth: true })
  for (const [at, password] of [
    [port, 'wrong'],
    [echoing, 'pass%3Aword'],
  ] as const) {
    const outcome = await transportTo(at, {}, `user:${password}@`).send(orderOf(opened), never())
    equal(outcome.kind, 'passing')
    match(errorOf(outcome), /refused the login \(535\).*SMTP_URL/)
    ok(!/wrong|pass:word/.test(errorOf(outcome)))
  }
})

const REPLIES: readonly (readonly [string, SMTPServerOptions, SendOutcome['kind'], RegExp])[] = [
  [
    'a recipient that is not known',
    refusing('onRcptTo', 550, '5.1.1 <ops@acme.example>: no such user'),
    'channel_broken',
    /550 5\.1\.1 <…>: no such user/,
  ],
  ['a mailbox that is full', refusing('onRcptTo', 552, '5.2.2 mailbox full'), 'passing', /mailbox full/],
  ['a full mailbox found after the e-mail', refusing('onData', 552, '5.2.2 over quota'), 'passing', /over quota/],
  [
    'an e-mail that fails DMARC at Microsoft',
    refusing('onData', 550, '5.7.509 Access denied'),
    'passing',
    /check what 127/,
  ],
  ['an e-mail without our DKIM', refusing('onData', 550, '5.7.26 unauthenticated'), 'passing', /check what 127/],
  [
    'a server that blocks ours, and says so at the recipient',
    refusing('onRcptTo', 554, '5.7.1 Client host [192.0.2.1] blocked'),
    'passing',
    /blocked \(check what 127\.0\.0\.1 lets this server send\)/,
  ],
  ['a server that relays nothing', refusing('onRcptTo', 550, 'relay not permitted'), 'passing', /relay not permitted/],
  [
    'a recipient that is not known to the relay before its server',
    refusing('onRcptTo', 550, '5.1.1 User unknown in relay recipient table'),
    'channel_broken',
    /User unknown/,
  ],
  ['a sender refused at the recipient', refusing('onRcptTo', 550, '5.1.8 Domain not found'), 'passing', /check/],
  ['greylisting', refusing('onRcptTo', 451, '4.7.1 come back later'), 'passing', /come back later/],
  ['a recipient that wants a login', refusing('onRcptTo', 530, '5.7.0 authentication required'), 'passing', /SMTP_URL/],
  ['a sender that is not allowed', refusing('onMailFrom', 553, '5.7.1 not yours'), 'passing', /SMTP_FROM/],
  ['an e-mail that is refused', refusing('onData', 554, '5.7.1 looks like spam'), 'message_refused', /looks like spam/],
  ['an e-mail that is put off', refusing('onData', 452, '4.3.1 disk full'), 'passing', /disk full/],
  ['an e-mail that is too large', refusing('onData', 552, '5.3.4 too large'), 'message_refused', /too large/],
  ['strangers that are not wanted', refusing('onConnect', 554, '5.7.1 go away'), 'passing', /go away/],
]

for (const [what, options, kind, error] of REPLIES) {
  test(`${what}: ${kind}`, async (t) => {
    const { port, mails } = await mailServer(t, options)
    const outcome = await transportTo(port).send(orderOf(opened), never())
    equal(outcome.kind, kind, JSON.stringify(outcome))
    match(errorOf(outcome), error)
    ok(!errorOf(outcome).includes('ops@acme.example'))
    equal(mails.length, 0)
  })
}

test('a recipient that is refused or put off among others is noted, keeps no other from the e-mail, and gets it alone later where it may', async (t) => {
  const { port, mails } = await mailServer(t, {
    onRcptTo: ({ address }, _session, done) =>
      done(
        address.startsWith('new@')
          ? smtpError(451, `4.7.1 <${address}> comes too soon`)
          : address.startsWith('gone@')
            ? smtpError(550, '5.1.1 no such user')
            : null,
      ),
  })
  const transport = transportTo(port)
  const send = (address: string, only?: readonly string[]) =>
    transport.send({ ...orderOf(opened, { address }), ...(only !== undefined && { only }) }, never())
  const left = ['new@xn--bcher-kva.example']
  deepEqual(await send('ops@acme.example, new@Bücher.example'), {
    kind: 'delivered',
    note: '1 of 2 addresses was not reached yet, 127.0.0.1 said: 451 4.7.1 <…> comes too soon',
    left,
  })
  deepEqual(await send('new@Bücher.example, gone@acme.example, ops@acme.example'), {
    kind: 'delivered',
    note: '2 of 3 addresses were not reached, 127.0.0.1 said: 550 5.1.1 no such user',
    left,
  })
  deepEqual(await send('ops@acme.example, new@Bücher.example', left), {
    kind: 'passing',
    error: '127.0.0.1 said: 451 4.7.1 <…> comes too soon',
    ofAddress: true,
  })
  equal((await send('ops@acme.example', left)).kind, 'message_refused')
  deepEqual(
    mails.map(({ to }) => to),
    [['ops@acme.example'], ['ops@acme.example']],
  )
})

test('where one address has a full mailbox and the others do not exist, the channel stays on for that one', async (t) => {
  const { port } = await mailServer(t, {
    onRcptTo: ({ address }, _session, done) =>
      done(address.startsWith('full@') ? smtpError(552, '5.2.2 mailbox full') : smtpError(550, '5.1.1 no such user')),
  })
  for (const address of ['full@acme.example, gone@acme.example', 'gone@acme.example, full@acme.example']) {
    const outcome = await transportTo(port).send(orderOf(opened, { address }), never())
    deepEqual([outcome.kind, errorOf(outcome)], ['passing', '127.0.0.1 said: 552 5.2.2 mailbox full'])
  }
})

test('after an e-mail that failed, the next one goes out', async (t) => {
  let count = 0
  const { port, mails } = await mailServer(t, {
    onRcptTo: (_address, _session, done) => done(++count === 1 ? smtpError(451, '4.7.1 later') : null),
  })
  const transport = transportTo(port)
  equal((await transport.send(orderOf(opened), never())).kind, 'passing')
  equal((await transport.send(orderOf(opened), never())).kind, 'delivered')
  equal((await transport.send(orderOf(resolved), never())).kind, 'delivered')
  equal(mails.length, 2)
})

test('a connection that is cut in the middle of an e-mail passes', async (t) => {
  const { port } = await tcpServer(t, (socket) => {
    socket.write('220 test\r\n')
    socket.on('data', (data) => {
      const line = data.toString()
      if (line.startsWith('DATA')) socket.write('354 go on\r\n')
      else if (/^(EHLO|MAIL|RCPT)/.test(line)) socket.write('250 fine\r\n')
      else socket.destroy()
    })
  })
  const outcome = await transportTo(port).send(orderOf(opened), never())
  equal(outcome.kind, 'passing', JSON.stringify(outcome))
})

test('an e-mail that was accepted, but whose answer is lost, goes out again under the same id', async (t) => {
  const mails = ['', '']
  let count = 0
  const { port } = await tcpServer(t, (socket) => {
    const nth = count++
    let isData = false
    socket.write('220 test\r\n')
    socket.on('data', (data) => {
      const line = data.toString()
      if (isData) mails[nth] += line
      if (isData && !mails[nth]?.endsWith('\r\n.\r\n')) return
      if (isData && nth === 0) socket.destroy()
      else if (line.startsWith('DATA')) socket.write('354 go on\r\n')
      else socket.write('250 fine\r\n')
      isData = line.startsWith('DATA')
    })
  })
  const send = async () => (await transportTo(port).send(orderOf(opened), never())).kind
  equal(await send(), 'passing')
  equal(await send(), 'delivered')
  const [first = '', second = ''] = mails
  ok(first.endsWith('\r\n.\r\n') && second.endsWith('\r\n.\r\n'))
  for (const name of ['Message-ID', 'References', 'Subject', 'To'])
    equal(header(second, name), header(first, name), name)
  notEqual(header(first, 'Message-ID'), null)
})

test('a server that keeps silent passes, before its greeting and after', async (t) => {
  const timeouts = { greetingTimeout: 100, socketTimeout: 100 }
  const silent = await tcpServer(t, () => {})
  const slow = await tcpServer(t, (socket) => socket.write('220 test\r\n'))
  for (const { port } of [silent, slow]) {
    const outcome = await transportTo(port, { timeouts }).send(orderOf(opened), never())
    deepEqual(outcome, { kind: 'passing', error: '127.0.0.1 did not answer in time' })
  }
})

test('no server there, and no such name, pass', async () => {
  equal((await transportTo(2).send(orderOf(opened), never())).kind, 'passing')
  equal((await transportTo(25, {}, '', 'mail.invalid').send(orderOf(opened), never())).kind, 'passing')
})

test('an attempt that is cancelled ends at once, and its connection with it', async (t) => {
  const silent = await tcpServer(t, () => {})
  for (const signal of [AbortSignal.timeout(100), AbortSignal.abort()]) {
    equal((await transportTo(silent.port).send(orderOf(opened), signal)).kind, 'passing')
  }
  await until('the connection ends', () => silent.open() === 0 || undefined)
})

function refusing(
  hook: 'onRcptTo' | 'onMailFrom' | 'onConnect' | 'onData',
  code: number,
  text: string,
): SMTPServerOptions {
  const error = smtpError(code, text)
  if (hook === 'onConnect') return { onConnect: (_session, done) => done(error) }
  if (hook === 'onMailFrom') return { onMailFrom: (_address, _session, done) => done(error) }
  if (hook === 'onRcptTo') return { onRcptTo: (_address, _session, done) => done(error) }
  return {
    onData(stream, _session, done) {
      stream.on('end', () => done(error)).resume()
    },
  }
}

/** RFC 2047's words, as far as nodemailer writes them. */
const decodedSubject = (raw: string): string =>
  (header(raw, 'Subject') ?? '')
    .replace(/\?=\s+=\?/g, '?==?')
    .replace(/(=\?UTF-8\?[QB]\?[^?]*\?=)+/gi, (words) =>
      Buffer.concat(
        [...words.matchAll(/=\?UTF-8\?([QB])\?([^?]*)\?=/gi)].map(([, encoding, text = '']) =>
          encoding?.toUpperCase() === 'B' ? Buffer.from(text, 'base64') : quotedPrintable(text),
        ),
      ).toString(),
    )

const quotedPrintable = (text: string): Buffer =>
  Buffer.from(
    text
      .replaceAll('_', ' ')
      .replace(/=([0-9A-F]{2})/gi, (_match, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    'latin1',
  )
