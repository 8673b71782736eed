import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { InvitedUser } from '../../src/accounts/index.ts'
import { MINUTE } from '../../src/lib/index.ts'
import { apiClient } from '../../testkit/api.ts'
import { sqlite } from '../../testkit/engines.ts'
import { until } from '../../testkit/until.ts'
import { mailServer } from '../notifications/email/smtp-server.ts'
import { join, openAccounts, PASSWORD, signIn } from './support.ts'

const ROLES = [{ client_id: null, role: 'viewer' as const }]

/** The secret of the link in an e-mail, which wraps lines. */
const secretIn = (raw: string): string => /welcome#([\w-]{43})/.exec(raw.replaceAll('=\r\n', ''))?.[1] ?? ''

test('who forgot the password gets a link by e-mail, and strangers learn nothing', async (t) => {
  const smtp = await mailServer(t)
  const { api, clock, admin } = await openAccounts(t, sqlite, {
    SMTP_URL: `smtp://127.0.0.1:${smtp.port}`,
    SMTP_FROM: 'tagwarden@agency.example',
  })
  await join(admin, 'ada@agency.example', ROLES)
  const [invitation] = smtp.mails
  assert.deepEqual(invitation?.to, ['ada@agency.example'])
  const stranger = apiClient(api.url)
  const ask = (email: string) => stranger.call('POST', '/api/password-links', { email })
  const [known, unknown] = [await ask('ADA@agency.example'), await ask('nobody@agency.example')]
  assert.deepEqual([known.status, known.text], [unknown.status, unknown.text])
  assert.equal(known.status, 204)
  const mail = await until('the link is sent', () => smtp.mails[1])
  assert.deepEqual(mail.to, ['ada@agency.example'])
  // Asked for again at once nothing more is sent: no one fills a mailbox of someone else.
  await ask('ada@agency.example')
  const browser = await signIn(api.url, 'ada@agency.example')
  const secret = secretIn(mail.raw)
  await stranger.ask('POST', '/api/password-links/use', { secret, password: 'another good sentence' })
  assert.equal((await browser.call('GET', '/api/clients')).status, 401)
  assert.equal((await signIn(api.url, 'ada@agency.example', PASSWORD)).answer.status, 401)
  assert.equal((await signIn(api.url, 'ada@agency.example', 'another good sentence')).answer.status, 200)
  assert.equal(smtp.mails.length, 2)
  clock.advance(6 * MINUTE)
  await ask('ada@agency.example')
  const later = await until('another link is sent', () => smtp.mails[2])
  clock.advance(6 * MINUTE)
  await ask('ada@agency.example')
  const newer = await until('a newer link is sent', () => smtp.mails[3])
  await stranger.ask('POST', '/api/password-links/use', { secret: secretIn(newer.raw), password: PASSWORD })
  const read = ({ raw }: { raw: string }) =>
    stranger.call('POST', '/api/password-links/read', { secret: secretIn(raw) })
  assert.equal((await read(later)).status, 404, 'a link that is used takes the others along')
  clock.advance(MINUTE)
  await ask('ada@agency.example')
  const last = await until('the last link is sent', () => smtp.mails[4])
  assert.equal((await read(last)).status, 200)
  clock.advance(60 * MINUTE)
  assert.equal((await read(last)).status, 404)
})

test('several requests for a new password at once send one link, and too many from one address are refused', async (t) => {
  const smtp = await mailServer(t)
  const { api, admin, clock } = await openAccounts(t, sqlite, {
    SMTP_URL: `smtp://127.0.0.1:${smtp.port}`,
    SMTP_FROM: 'tagwarden@agency.example',
  })
  for (const name of ['ada', 'bea']) await join(admin, `${name}@agency.example`, ROLES)
  const ask = (email: string) => apiClient(api.url).ask('POST', '/api/password-links', { email })
  await Promise.all(Array.from({ length: 4 }, () => ask('ada@agency.example')))
  clock.advance(MINUTE)
  await ask('bea@agency.example')
  const sentTo = (email: string) => smtp.mails.slice(2).filter(({ to }) => to.includes(email)).length
  await until(
    'both have a link',
    () => (sentTo('ada@agency.example') > 0 && sentTo('bea@agency.example') > 0) || undefined,
  )
  assert.equal(sentTo('ada@agency.example'), 1)
  const sixth = await apiClient(api.url).call('POST', '/api/password-links', { email: 'cea@agency.example' })
  assert.equal(sixth.status, 429)
})

test('a stranger who asks for links again and again does not fill a mailbox', async (t) => {
  const smtp = await mailServer(t)
  const { api, admin, clock } = await openAccounts(t, sqlite, {
    SMTP_URL: `smtp://127.0.0.1:${smtp.port}`,
    SMTP_FROM: 'tagwarden@agency.example',
  })
  await join(admin, 'ada@agency.example', ROLES)
  await admin.ask('POST', '/api/users', { email: 'new@agency.example', roles: ROLES })
  const invited = smtp.mails.length
  const sentTo = (name: string) =>
    smtp.mails.slice(invited).filter(({ to }) => to.includes(`${name}@agency.example`)).length
  const ask = async (name: string) => {
    await apiClient(api.url).ask('POST', '/api/password-links', { email: `${name}@agency.example` })
    // Answered before the link is written, but other writes wait for it.
    await admin.ask('POST', '/api/clients', { name: `After ${name}` })
  }
  for (let n = 0; n < 7; n++) {
    for (const name of ['ada', 'new']) {
      clock.advance(3 * MINUTE)
      await ask(name)
    }
  }
  await join(admin, 'bea@agency.example', ROLES)
  assert.deepEqual([sentTo('ada'), sentTo('new')], [3, 2])
  clock.advance(35 * MINUTE)
  await ask('ada')
  await until('a link is sent once the first one has expired', () => sentTo('ada') === 4 || undefined)
})

test('an invitation is sent where e-mail is set up, and shown all the same', async (t) => {
  const smtp = await mailServer(t)
  const { admin } = await openAccounts(t, sqlite, {
    SMTP_URL: `smtp://127.0.0.1:${smtp.port}`,
    SMTP_FROM: 'tagwarden@agency.example',
    PUBLIC_URL: 'https://tags.agency.example',
  })
  const { link } = await admin.ask<InvitedUser>('POST', '/api/users', { email: 'ada@agency.example', roles: ROLES })
  assert.ok(link?.mailed === true && link.url.startsWith('https://tags.agency.example/welcome#'))
  assert.equal(secretIn(smtp.mails[0]?.raw ?? ''), link.url.split('#')[1])
})

test('without e-mail the answer says whom to ask, for every address', async (t) => {
  const { api, admin } = await openAccounts(t, sqlite)
  await join(admin, 'ada@agency.example', ROLES)
  for (const email of ['ada@agency.example', 'nobody@agency.example']) {
    const answer = await api.call('POST', '/api/password-links', { email })
    assert.equal(answer.status, 409)
    assert.match(answer.text, /ask an owner/)
  }
})
