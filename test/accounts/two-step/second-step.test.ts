import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { Secret, TOTP } from 'otpauth'
import type { AccountRecord, UserRecord } from '../../../src/accounts/index.ts'
import { HOUR, MINUTE, SECOND } from '../../../src/lib/index.ts'
import { type ApiClient, apiClient } from '../../../testkit/api.ts'
import type { TestClock } from '../../../testkit/clock.ts'
import { logicEngines, sqlite, type TestEngine, testPerEngine } from '../../../testkit/engines.ts'
import { type AccountService, join, openAccounts, PASSWORD, signIn } from '../support.ts'

const EMAIL = 'ada@agency.example'

interface Enrolled extends AccountService {
  ada: ApiClient
  userId: string
  recoveryCodes: string[]
  /** What the app shows now. */
  code: () => string
}

const codeAt = (secret: string, clock: TestClock): string =>
  new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: clock.now() })

async function enrol(t: TestContext, engine: TestEngine): Promise<Enrolled> {
  const service = await openAccounts(t, engine)
  const { id } = await join(service.admin, EMAIL, [{ client_id: null, role: 'viewer' }])
  const ada = await signIn(service.api.url, EMAIL)
  const { secret } = await ada.ask<{ secret: string; uri: string }>('POST', '/api/account/two-step', {
    password: PASSWORD,
  })
  const code = () => codeAt(secret, service.clock)
  const { recovery_codes } = await ada.ask<{ recovery_codes: string[] }>('POST', '/api/account/two-step/confirm', {
    code: code(),
  })
  return { ...service, ada, userId: id, recoveryCodes: recovery_codes, code }
}

const withCode = ({ api }: AccountService, code?: string, password = PASSWORD) =>
  apiClient(api.url).call('POST', '/api/session', { email: EMAIL, password, ...(code === undefined ? {} : { code }) })

/** Who changed the account's second step and how, as the audit log has it: newest first. */
async function auditedSteps({ admin }: AccountService, userId: string): Promise<string[]> {
  const entries = await admin.ask<{ actor: string; after: { second_step?: string } }[]>(
    'GET',
    `/api/audit?entity_id=${userId}`,
  )
  return entries.flatMap(({ actor, after }) =>
    after.second_step === undefined ? [] : [`${actor}: ${after.second_step}`],
  )
}

/** The field that an answer finds fault with. */
const faultOf = (answer: { json: <T>() => T }): string | undefined =>
  answer.json<{ details: { path: string }[] }>().details[0]?.path

testPerEngine(
  'once it is confirmed, a sign-in takes password and code',
  async (engine, t) => {
    const service = await enrol(t, engine)
    const { clock, ada, code } = service
    const without = await withCode(service)
    assert.deepEqual([without.status, faultOf(without)], [401, '/code'])
    // Whoever does not know the password does not learn that there is a second step.
    const wrong = await withCode(service, undefined, 'a wrong password')
    assert.deepEqual([wrong.status, faultOf(wrong)], [401, undefined])
    clock.advance(30 * SECOND)
    assert.equal((await withCode(service, code())).status, 200)
    const account = await ada.ask<AccountRecord>('GET', '/api/account')
    assert.deepEqual(account.two_step, { since: '2026-11-20T10:00:00.000Z', recovery_codes_left: 10 })
    const [user] = await service.admin.ask<UserRecord[]>('GET', '/api/users')
    assert.equal(user?.two_step, true)
  },
  logicEngines,
)

testPerEngine('a code works once, and none before it afterwards', async (engine, t) => {
  const service = await enrol(t, engine)
  const { clock, code } = service
  // The one that confirmed was used, too.
  assert.equal((await withCode(service, code())).status, 401)
  const first = code()
  clock.advance(30 * SECOND)
  const second = code()
  const answers = await Promise.all([withCode(service, second), withCode(service, second), withCode(service, second)])
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 401, 401])
  assert.equal((await withCode(service, first)).status, 401)
})

testPerEngine('a recovery code signs in once, however it is typed, and is stored as a hash', async (engine, t) => {
  const service = await enrol(t, engine)
  const [first = '', second = ''] = service.recoveryCodes
  assert.equal(service.recoveryCodes.length, 10)
  const rows = await service.api.service.store.read.selectFrom('user_recovery_codes').selectAll().execute()
  assert.ok(!JSON.stringify(rows).includes(first))
  assert.equal((await withCode(service, first)).status, 200)
  assert.equal((await withCode(service, first)).status, 401)
  assert.equal((await withCode(service, second.toUpperCase().replaceAll('-', ' '))).status, 200)
  const { two_step } = await service.ada.ask<AccountRecord>('GET', '/api/account')
  assert.equal(two_step?.recovery_codes_left, 8)
})

test('guesses make the account wait up to an hour, on every node, and a recovery code gets its owner in meanwhile', async (t) => {
  const service = await enrol(t, sqlite)
  const { clock, code } = service
  clock.advance(MINUTE)
  const statuses: number[] = []
  for (let n = 0; n < 6; n++) statuses.push((await withCode(service, '000000')).status)
  assert.deepEqual(statuses, [401, 401, 401, 401, 401, 429])
  const right = await withCode(service, code())
  assert.deepEqual([right.status, right.headers.get('retry-after')], [429, '1'])
  for (let n = 5; n < 20; n++) {
    clock.advance(HOUR)
    await withCode(service, '000000')
  }
  const later = await withCode(service, code())
  assert.deepEqual([later.status, later.headers.get('retry-after')], [429, '3600'])
  assert.equal((await withCode(service, service.recoveryCodes[0])).status, 200)
  clock.advance(HOUR)
  assert.equal((await withCode(service, code())).status, 200)
})

test('a wrong code from before the clock was set back makes no one wait longer than another does', async (t) => {
  const service = await enrol(t, sqlite)
  const { clock, code } = service
  clock.advance(HOUR)
  assert.equal((await withCode(service, '000000')).status, 401)
  clock.advance(MINUTE - HOUR)
  assert.equal((await withCode(service, code())).status, 200)
})

test('beginning takes the password, and nothing counts before a code is confirmed', async (t) => {
  const service = await openAccounts(t, sqlite)
  await join(service.admin, EMAIL, [{ client_id: null, role: 'viewer' }])
  const ada = await signIn(service.api.url, EMAIL)
  const begin = (password: string) => ada.call('POST', '/api/account/two-step', { password })
  const confirm = (code: string) => ada.call('POST', '/api/account/two-step/confirm', { code })
  assert.equal((await begin('a wrong password')).status, 400)
  assert.equal((await confirm('123456')).status, 400)
  const first = (await begin(PASSWORD)).json<{ secret: string }>()
  const second = (await begin(PASSWORD)).json<{ secret: string }>()
  assert.equal((await confirm(codeAt(first.secret, service.clock))).status, 400)
  assert.equal((await withCode(service)).status, 200)
  assert.equal((await confirm(codeAt(second.secret, service.clock))).status, 200)
  assert.equal((await begin(PASSWORD)).status, 409)
  assert.equal((await withCode(service)).status, 401)
})

test('turning it on ends all other sessions, turning it off takes a code, and the audit log has both', async (t) => {
  const service = await openAccounts(t, sqlite)
  const { id } = await join(service.admin, EMAIL, [{ client_id: null, role: 'viewer' }])
  const [here, there] = [await signIn(service.api.url, EMAIL), await signIn(service.api.url, EMAIL)]
  const { secret } = await here.ask<{ secret: string }>('POST', '/api/account/two-step', { password: PASSWORD })
  const on = await here.ask<{ recovery_codes: string[] }>('POST', '/api/account/two-step/confirm', {
    code: codeAt(secret, service.clock),
  })
  assert.equal((await there.call('GET', '/api/clients')).status, 401)
  assert.equal((await here.call('GET', '/api/clients')).status, 200)
  const [code] = on.recovery_codes
  const renewed = await here.ask<{ recovery_codes: string[] }>('POST', '/api/account/two-step/recovery-codes', { code })
  const off = (with_: string | undefined) => here.call('POST', '/api/account/two-step/off', { code: with_ })
  assert.equal((await off(on.recovery_codes[1])).status, 400)
  assert.equal((await off('000000')).status, 400)
  assert.equal((await off(renewed.recovery_codes[0])).status, 204)
  assert.equal((await withCode(service)).status, 200)
  const { read } = service.api.service.store
  assert.deepEqual(await read.selectFrom('user_recovery_codes').selectAll().execute(), [])
  assert.deepEqual(await auditedSteps(service, id), [
    `${EMAIL}: off`,
    `${EMAIL}: on, with new recovery codes`,
    `${EMAIL}: on`,
  ])
})

test('an owner takes it away from someone who lost phone and codes, and the audit log has it all, without secrets', async (t) => {
  const service = await enrol(t, sqlite)
  const { admin, userId, recoveryCodes } = service
  const viewer = service.ada
  assert.equal((await viewer.call('DELETE', `/api/users/${userId}/two-step`)).status, 403)
  await admin.ask('DELETE', `/api/users/${userId}/two-step`)
  assert.equal((await withCode(service)).status, 200)
  assert.equal((await admin.call('DELETE', `/api/users/${userId}/two-step`)).status, 409)
  assert.deepEqual(await auditedSteps(service, userId), ['admin: taken away', `${EMAIL}: on`])
  const audit = await admin.call('GET', `/api/audit?entity_id=${userId}`)
  assert.ok(recoveryCodes.every((code) => !audit.text.includes(code)))
})

test('another password does not get around the second step, and an account that is deleted leaves nothing', async (t) => {
  const service = await enrol(t, sqlite)
  const { admin, userId, clock, code } = service
  const link = await admin.ask<{ url: string }>('POST', `/api/users/${userId}/link`)
  const password = 'another good sentence'
  await apiClient(service.api.url).ask('POST', '/api/password-links/use', { secret: link.url.split('#')[1], password })
  assert.equal((await withCode(service, undefined, password)).status, 401)
  clock.advance(MINUTE)
  assert.equal((await withCode(service, code(), password)).status, 200)
  await admin.ask('DELETE', `/api/users/${userId}`)
  const { read } = service.api.service.store
  assert.deepEqual(await read.selectFrom('user_two_steps').selectAll().execute(), [])
  assert.deepEqual(await read.selectFrom('user_recovery_codes').selectAll().execute(), [])
})
