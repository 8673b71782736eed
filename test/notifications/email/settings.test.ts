import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { mailboxOf, type SmtpServer, smtpServer } from '../../../src/notifications/email/transport.ts'

const auth = { user: 'user', pass: 'p@ss:w/rd' }
const LOGIN = 'user:p%40ss%3Aw%2Frd@'

const SERVERS: readonly (readonly [string, SmtpServer])[] = [
  ['smtp://mail.example', { host: 'mail.example', port: 587, secure: false, requireTLS: false }],
  ['smtp://mail.example:25', { host: 'mail.example', port: 25, secure: false, requireTLS: false }],
  ['smtps://mail.example', { host: 'mail.example', port: 465, secure: true, requireTLS: false }],
  [`smtps://${LOGIN}mail.example`, { host: 'mail.example', port: 465, secure: true, requireTLS: false, auth }],
  // A password never goes to another machine in the clear.
  [`smtp://${LOGIN}mail.example`, { host: 'mail.example', port: 587, secure: false, requireTLS: true, auth }],
  [`smtp://${LOGIN}10.0.0.5:25`, { host: '10.0.0.5', port: 25, secure: false, requireTLS: true, auth }],
  [`smtp://${LOGIN}127.0.0.1.example`, { host: '127.0.0.1.example', port: 587, secure: false, requireTLS: true, auth }],
  [`smtp://${LOGIN}localhost:25`, { host: 'localhost', port: 25, secure: false, requireTLS: false, auth }],
  [`smtp://${LOGIN}[::1]:25`, { host: '::1', port: 25, secure: false, requireTLS: false, auth }],
  [
    'smtp://user:100%@localhost',
    { host: 'localhost', port: 587, secure: false, requireTLS: false, auth: { user: 'user', pass: '100%' } },
  ],
]

for (const [url, server] of SERVERS) {
  test(`${url} is read`, () => deepEqual(smtpServer(url), server))
}

const MAILBOXES = [
  ['alerts@example.com', 'Tagwarden', 'alerts@example.com'],
  ['Acme, Inc. <alerts@example.com>', 'Acme, Inc.', 'alerts@example.com'],
  ['"Acme" <alerts@example.com>', 'Acme', 'alerts@example.com'],
  ['<alerts@example.com>', '', 'alerts@example.com'],
] as const

for (const [text, name, address] of MAILBOXES) {
  test(`${text} is ${address} by the name of "${name}"`, () => deepEqual(mailboxOf(text), { name, address }))
}
