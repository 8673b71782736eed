import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Passwords } from '../../src/accounts/index.ts'
import { hashOf } from '../../src/lib/index.ts'
import { apiClient } from '../../testkit/api.ts'
import { logicEngines, sqlite, testPerEngine } from '../../testkit/engines.ts'
import { join, openAccounts, PASSWORD, secretOf, signIn } from './support.ts'

const EMAIL = 'ada@agency.example'
const ANOTHER = 'another good sentence'

/** Passwords after whose comparison something happens, once. */
class SteppingPasswords extends Passwords {
  step: (() => Promise<void>) | null = null

  constructor() {
    super({ ln: 4, r: 8, p: 1 })
  }

  override async isRight(password: string, stored: string | null): Promise<boolean> {
    const isRight = await super.isRight(password, stored)
    const { step } = this
    this.step = null
    await step?.()
    return isRight
  }
}

const openStepping = async (...[t, engine]: Parameters<typeof openAccounts>) => {
  const passwords = new SteppingPasswords()
  const service = await openAccounts(t, engine, {}, { passwords })
  const { id } = await join(service.admin, EMAIL, [{ client_id: null, role: 'viewer' }])
  const { url } = await service.admin.ask<{ url: string }>('POST', `/api/users/${id}/link`)
  const useLink = () =>
    apiClient(service.api.url).ask<void>('POST', '/api/password-links/use', {
      secret: secretOf(url),
      password: ANOTHER,
    })
  return { ...service, passwords, useLink }
}

testPerEngine(
  'who still knows the old password does not undo one that a link has set meanwhile',
  async (engine, t) => {
    const { api, passwords, useLink } = await openStepping(t, engine)
    const thief = await signIn(api.url, EMAIL)
    passwords.step = useLink
    const taken = await thief.call('PATCH', '/api/account', {
      current_password: PASSWORD,
      password: 'the sentence of a thief',
    })
    assert.equal(taken.status, 409, taken.text)
    assert.equal((await signIn(api.url, EMAIL, 'the sentence of a thief')).answer.status, 401)
    assert.equal((await signIn(api.url, EMAIL, ANOTHER)).answer.status, 200)
  },
  logicEngines,
)

test('a password that is changed while someone signs in with the old one lets them in no more', async (t) => {
  const { api, passwords, useLink } = await openStepping(t, sqlite)
  passwords.step = useLink
  const thief = await signIn(api.url, EMAIL)
  assert.equal(thief.answer.status, 401, thief.answer.text)
  assert.equal((await thief.call('GET', '/api/clients')).status, 401)
  assert.equal((await signIn(api.url, EMAIL, ANOTHER)).answer.status, 200)
})

test('a password whose hash is renewed ends no session and lets in everyone who signs in with it at once', async (t) => {
  const { api } = await openStepping(t, sqlite)
  const before = await signIn(api.url, EMAIL)
  const { write } = api.service.store
  const password_hash = await new Passwords({ ln: 3, r: 8, p: 1 }).hash(PASSWORD)
  await write.updateTable('users').set({ password_hash }).execute()
  await write
    .updateTable('sign_ins')
    .set({ token_print: hashOf(password_hash) })
    .execute()
  const both = await Promise.all([signIn(api.url, EMAIL), signIn(api.url, EMAIL)])
  assert.deepEqual(
    both.map(({ answer }) => answer.status),
    [200, 200],
  )
  for (const browser of [before, ...both]) assert.equal((await browser.call('GET', '/api/clients')).status, 200)
})
