import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { DAY, MINUTE, SECOND } from '../../../src/lib/index.ts'
import { TestClock } from '../../../testkit/clock.ts'
import { NOW } from '../support.ts'
import { TestBrowser } from './browser.ts'
import { beginAt, comeBack, type OidcService, signInAt, startWithProvider, warnings } from './support.ts'
import { CLIENT, type Script, startWrittenProvider, type WrittenProvider } from './written-provider.ts'

interface Stage {
  clock: TestClock
  provider: WrittenProvider
  service: OidcService
}

async function open(t: TestContext, environment: Record<string, string> = {}): Promise<Stage> {
  const clock = new TestClock(NOW)
  const provider = await startWrittenProvider(t, clock)
  return { clock, provider, service: await startWithProvider(t, clock, provider.issuer, environment) }
}

/** Whoever is refused learns a word, has no session, and the operator has a line without secrets. */
async function assertRefused(stage: Stage, location: string, browser: TestBrowser, problem: string, reason: RegExp) {
  const { service } = stage
  assert.equal(location, `/sign-in?problem=${problem}`)
  assert.equal(browser.cookie(service.api.url, 'tagwarden_session'), undefined)
  const line = warnings(service).at(-1)
  assert.equal(line?.msg, 'a sign-in with the identity provider failed')
  assert.equal(line.problem, problem)
  assert.match(line.reason ?? '', reason)
  const written = JSON.stringify(service.lines)
  for (const secret of [CLIENT.secret, 'a-code', 'eyJ']) assert.ok(!written.includes(secret), `${secret} is in the log`)
  // Other work may fail when the clock leaps, and has its stack.
  assert.ok(!JSON.stringify(line).includes('.ts:'), 'a stack is in the line')
}

const at = Date.parse(NOW) / SECOND

const WRONG_TOKENS: readonly [what: string, script: Partial<Script>, problem: string, reason: RegExp][] = [
  ['another nonce', { claims: { nonce: 'of-another-sign-in' } }, 'token', /nonce/],
  ['no nonce', { claims: { nonce: undefined } }, 'token', /nonce/],
  ['another issuer', { claims: { iss: 'https://evil.example' } }, 'token', /iss/],
  ['another audience', { claims: { aud: 'another-client' } }, 'token', /aud/],
  ['several audiences, meant for another', { claims: { aud: [CLIENT.id, 'other'], azp: 'other' } }, 'token', /azp/],
  ['an end that is over', { claims: { iat: at - 600, exp: at - 63 } }, 'clock', /exp/],
  ['a begin that is to come', { claims: { nbf: at + 63 } }, 'clock', /nbf/],
  ['a clock ahead of ours', { claims: { iat: at + 61, exp: at + 361 } }, 'clock', /issued 61 s in the future/],
  ['a signature of another key', { signer: 'foreign' }, 'token', /signature/],
  ['no subject', { claims: { sub: undefined } }, 'token', /sub/],
  ['an empty subject', { claims: { sub: '' } }, 'token', /sub/],
  ['an address that is not verified', { claims: { email_verified: false } }, 'email', /ada/],
  ['an address of which nothing is said', { claims: { email_verified: undefined } }, 'email', /ada/],
  ['no address', { claims: { email: undefined } }, 'email', /ada/],
  ['an address that is none', { claims: { email: 'ada@a.example, eve@b.example' } }, 'email', /ada/],
  ['no group that has a role', { claims: { groups: ['staff'] } }, 'no_role', /none of the 1 groups/],
  ['no groups', { claims: { groups: undefined } }, 'no_role', /has no groups: .*OIDC_GROUPS_CLAIM/],
  [
    'groups that are no list',
    { claims: { groups: { admins: true } } },
    'no_role',
    /has no groups: .*OIDC_GROUPS_CLAIM/,
  ],
]
for (const [what, script, problem, reason] of WRONG_TOKENS) {
  test(`refused: a token with ${what}`, async (t) => {
    const stage = await open(t)
    Object.assign(stage.provider.script, script)
    const { location, browser } = await signInAt(stage.service, stage.provider)
    await assertRefused(stage, location, browser, problem, reason)
    const users = await stage.service.admin.ask<unknown[]>('GET', '/api/users')
    assert.deepEqual(users, [])
  })
}

test('a clock that differs by a minute is let pass, on both sides', async (t) => {
  const stage = await open(t)
  for (const claims of [
    { iat: at + 58, exp: at + 358, nbf: at + 58 },
    { iat: at - 358, exp: at - 58 },
  ]) {
    stage.provider.script.claims = claims
    assert.equal((await signInAt(stage.service, stage.provider)).location, '/overview')
  }
})

const WRONG_ANSWERS: readonly [what: string, answer: Record<string, string>, problem: string, reason: RegExp][] = [
  ['another state', { code: 'a-code', state: 'of-another-sign-in' }, 'expired', /state differs/],
  ['no state', { code: 'a-code' }, 'expired', /state differs/],
  ['a refusal by the person', { error: 'access_denied' }, 'refused', /access_denied/],
  ['a failure of its own', { error: 'temporarily_unavailable' }, 'provider', /temporarily_unavailable/],
  ['a word that spoils the log', { error: '\u001b[31m\nadmin' }, 'provider', /^the provider answers \?\?31m\?admin$/],
  ['the name of another issuer', { code: 'a-code', iss: 'https://evil.example' }, 'token', /iss/],
  ['nothing', {}, 'token', /code/],
]
for (const [what, answer, problem, reason] of WRONG_ANSWERS) {
  test(`refused: an answer with ${what}`, async (t) => {
    const stage = await open(t)
    const browser = new TestBrowser()
    const asked = await beginAt(stage.service, stage.provider, browser)
    const hasOwnState = 'state' in answer || what === 'no state'
    const state: Record<string, string> = hasOwnState ? {} : { state: asked.get('state') ?? '' }
    const { location } = await comeBack(stage.service, browser, { ...state, ...answer })
    await assertRefused(stage, location, browser, problem, reason)
    assert.equal(stage.provider.exchanges.length, 0, 'the provider was asked all the same')
  })
}

test('an answer counts in the browser that began, and for a quarter of an hour', async (t) => {
  const stage = await open(t)
  const { service, provider, clock } = stage
  const [own, other] = [new TestBrowser(), new TestBrowser()]
  const asked = await beginAt(service, provider, own)
  const answer = { code: 'a-code', state: asked.get('state') ?? '' }
  await assertRefused(
    stage,
    (await comeBack(service, other, answer)).location,
    other,
    'expired',
    /did not start a sign-in/,
  )
  other.setCookie(service.api.url, 'tagwarden_oidc', 'A'.repeat(200))
  await assertRefused(
    stage,
    (await comeBack(service, other, answer)).location,
    other,
    'expired',
    /did not start a sign-in/,
  )
  clock.advance(15 * MINUTE + 1)
  await assertRefused(stage, (await comeBack(service, own, answer)).location, own, 'expired', /15 minutes/)
})

test('of two tabs that begin a sign-in the later one gets through, whichever comes back first', async (t) => {
  const stage = await open(t)
  const { service, provider } = stage
  const browser = new TestBrowser()
  const [first, second] = [
    await beginAt(service, provider, browser),
    await beginAt(service, provider, browser, '/alerts'),
  ]
  const answerTo = (asked: URLSearchParams) => ({ code: 'a-code', state: asked.get('state') ?? '' })
  await assertRefused(
    stage,
    (await comeBack(service, browser, answerTo(first))).location,
    browser,
    'expired',
    /state differs/,
  )
  assert.equal((await comeBack(service, browser, answerTo(second))).location, '/alerts')
  assert.equal(browser.cookie(service.api.url, 'tagwarden_oidc'), undefined)
})

test('refused: a token endpoint that says no, answers nonsense, or does not answer', async (t) => {
  const stage = await open(t)
  const { service, provider, clock } = stage
  for (const [tokenAnswer, problem, reason] of [
    [
      { status: 400, body: '{"error":"invalid_grant","error_description":"secret detail"}' },
      'provider',
      /invalid_grant/,
    ],
    [
      { status: 401, body: '{"error":"invalid_client"}' },
      'setup',
      /invalid_client: check OIDC_CLIENT_ID and OIDC_CLIENT_SECRET/,
    ],
    [{ status: 400, body: '{"error":"invalid_scope"}' }, 'setup', /invalid_scope: check OIDC_SCOPES/],
    [{ status: 404, body: '<html>' }, 'setup', /\/token answers 404$/],
    [{ status: 429, body: '' }, 'provider', /\/token answers 429$/],
    [{ status: 500, body: '<html>' }, 'provider', /\/token answers 500$/],
    [{ status: 200, body: '<html>' }, 'provider', /./],
    [{ status: 200, body: '{}' }, 'token', /./],
    [{ status: 302, body: '' }, 'provider', /\/token answers 302$/],
    [{ status: 699, body: '' }, 'provider', /the provider answers with status 699$/],
  ] as const) {
    provider.script.tokenAnswer = tokenAnswer
    const { location, browser } = await signInAt(service, provider)
    await assertRefused(stage, location, browser, problem, reason)
    clock.advance(MINUTE)
  }
  assert.ok(!JSON.stringify(service.lines).includes('secret detail'))
})

test('the service runs without the provider, says so, and signs people in once it is back', async (t) => {
  const clock = new TestClock(NOW)
  const provider = await startWrittenProvider(t, clock)
  provider.script.isDown = true
  const service = await startWithProvider(t, clock, provider.issuer)
  const stage = { clock, provider, service }
  assert.equal((await service.api.call('GET', '/ready')).status, 200)
  const browser = new TestBrowser()
  const begun = await browser.get(`${service.api.url}/api/oidc/sign-in`)
  await assertRefused(stage, begun.location, browser, 'provider', /status/)
  provider.script.isDown = false
  assert.equal((await signInAt(service, provider)).location, '/overview')
  // What is known of it is used while it cannot be looked up.
  clock.advance(DAY)
  provider.script.isDown = true
  await beginAt(service, provider, browser)
})

test('what is known of the provider is looked up once an hour', async (t) => {
  const { service, provider, clock } = await open(t)
  const looks = () => provider.asked.get('/.well-known/openid-configuration')
  await signInAt(service, provider)
  await signInAt(service, provider)
  assert.equal(looks(), 1)
  clock.advance(61 * MINUTE)
  await signInAt(service, provider)
  assert.equal(looks(), 2)
})

test('the sign-out leads to a known provider without asking it, however long ago it was looked up', async (t) => {
  const { service, provider, clock } = await open(t)
  const { api } = await signInAt(service, provider)
  const looks = () => provider.asked.get('/.well-known/openid-configuration')
  assert.equal(looks(), 1)
  clock.advance(61 * MINUTE)
  const { provider_url } = await api.ask<{ provider_url: string }>('DELETE', '/api/session')
  assert.ok(provider_url.startsWith(`${provider.issuer}/end?`), provider_url)
  assert.equal(looks(), 1)
})

test('a provider where operators do not let the service go is not asked', async (t) => {
  const stage = await open(t, { OUTBOUND_ALLOW: '10.0.0.0/8' })
  const browser = new TestBrowser()
  const begun = await browser.get(`${stage.service.api.url}/api/oidc/sign-in`)
  await assertRefused(stage, begun.location, browser, 'provider', /OUTBOUND_ALLOW/)
  assert.equal(stage.provider.asked.size, 0)
})

test('who fails again and again waits, and the provider is not asked meanwhile', async (t) => {
  const stage = await open(t)
  const { service, provider, clock } = stage
  provider.script.claims = { nonce: 'wrong' }
  for (let n = 0; n < 5; n++) await signInAt(service, provider)
  const { location, browser } = await signInAt(service, provider)
  await assertRefused(stage, location, browser, 'busy', /too many/)
  for (let n = 0; n < 3; n++) await signInAt(service, provider)
  assert.equal(provider.exchanges.length, 5)
  assert.equal(warnings(service).length, 6, 'strangers do not fill the log')
  provider.script.claims = {}
  clock.advance(MINUTE)
  assert.equal((await signInAt(service, provider)).location, '/overview')
})

test('a foreign page that sends browsers to the end of a sign-in keeps no one out', async (t) => {
  const stage = await open(t)
  const { service, provider } = stage
  for (let n = 0; n < 12; n++) {
    const { location } = await comeBack(service, new TestBrowser(), { code: 'x', state: 'y' })
    assert.equal(location, '/sign-in?problem=expired')
  }
  assert.equal(provider.exchanges.length, 0)
  assert.equal((await signInAt(service, provider)).location, '/overview')
})

test('without a provider there is nothing to sign in with', async (t) => {
  const clock = new TestClock(NOW)
  const provider = await startWrittenProvider(t, clock)
  const environment = { OIDC_ISSUER: '', OIDC_CLIENT_ID: '', OIDC_CLIENT_SECRET: '' }
  const { api } = await startWithProvider(t, clock, provider.issuer, environment)
  for (const path of ['/api/oidc/sign-in', '/api/oidc/callback?code=x&state=y']) {
    assert.equal((await api.call('GET', path)).status, 404)
  }
  assert.equal((await api.ask<{ single_sign_on: null }>('GET', '/api/session')).single_sign_on, null)
})
