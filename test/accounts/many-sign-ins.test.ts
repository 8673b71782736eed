import assert from 'node:assert/strict'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { Passwords } from '../../src/accounts/index.ts'
import { apiClient } from '../../testkit/api.ts'
import { sqlite } from '../../testkit/engines.ts'
import { startAnswering } from '../../testkit/listeners.ts'
import { until } from '../../testkit/until.ts'
import { CLIENT } from './oidc/written-provider.ts'
import { openAccounts } from './support.ts'

/** Passwords whose comparison lasts until it is let go. */
class HeldPasswords extends Passwords {
  begun = 0
  readonly #go = Promise.withResolvers<void>()

  override async isRight(): Promise<boolean> {
    this.begun++
    await this.#go.promise
    return false
  }

  letGo(): void {
    this.#go.resolve()
  }
}

test('passwords that a stranger sends from many networks of one provider keep no one out', async (t) => {
  const passwords = new HeldPasswords()
  const { api, admin } = await openAccounts(t, sqlite, { TRUST_PROXY: '127.0.0.1' }, { passwords })
  let sent = 0
  const signIn = (address: string) =>
    apiClient(api.url, { 'x-forwarded-for': address }).call('POST', '/api/session', {
      email: `${sent++}@own.example`,
      password: 'a guess at a password',
    })
  const guesses = Array.from({ length: 12 }, (_, n) => signIn(`2001:db8:1:${n}::1`))
  await until('some are compared', () => (passwords.begun >= 2 ? true : undefined))
  assert.equal((await admin.call('GET', '/api/users')).status, 200)
  assert.equal(passwords.begun, 2)
  const other = signIn('2001:db8:2::1')
  await until('that of someone else', () => (passwords.begun === 3 ? true : undefined))
  passwords.letGo()
  assert.deepEqual(
    (await Promise.all([...guesses, other])).map(({ status }) => status),
    Array.from({ length: 13 }, () => 401),
  )
})

test('sign-ins that wait for an identity provider that hangs keep no one else waiting', async (t) => {
  const { promise, resolve } = Promise.withResolvers<void>()
  const issuer = await startAnswering(t, async (_request, response) => {
    await promise
    response.writeHead(503).end()
  })
  const { api, admin } = await openAccounts(t, sqlite, {
    TRUST_PROXY: '127.0.0.1',
    OIDC_ISSUER: issuer,
    OIDC_CLIENT_ID: CLIENT.id,
    OIDC_CLIENT_SECRET: CLIENT.secret,
    OUTBOUND_ALLOW: '127.0.0.1',
    GROUP_ROLES: 'admins: owner of all',
  })
  let arrived = 0
  const count = () => void arrived++
  subscribe('http.server.request.start', count)
  t.after(() => unsubscribe('http.server.request.start', count))
  let answered = 0
  const signIns = Array.from({ length: 12 }, async (_, n) => {
    await fetch(`${api.url}/api/oidc/sign-in`, {
      headers: { 'x-forwarded-for': `192.0.${n}.1` },
      redirect: 'manual',
    })
    answered++
  })
  t.after(() => resolve())
  await until('all have arrived', () => (arrived >= signIns.length ? true : undefined))
  for (let turn = 0; turn < 50; turn++) await setImmediate()
  assert.equal((await admin.call('GET', '/api/users')).status, 200)
  assert.equal(answered, 0)
  resolve()
  await Promise.all(signIns)
})
