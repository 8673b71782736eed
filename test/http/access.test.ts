import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FastifyContextConfig, InjectOptions } from 'fastify'
import { Type } from 'typebox'
import { type HttpApp, Uuid } from '../../src/http/index.ts'
import { HOUR } from '../../src/lib/index.ts'
import { bearer } from '../../testkit/api.ts'
import { TestClock } from '../../testkit/clock.ts'
import { ADMIN, KEYS, NO_KEYS, openApp, refused, thingRoutes, VIEWER } from './support.ts'

const OWN = 'http://tagwarden.example'
const EVIL = 'http://evil.example'

async function cookieOf(app: HttpApp, token: string): Promise<string> {
  const response = await app.inject({ method: 'POST', url: '/api/session', payload: { token } })
  assert.equal(response.statusCode, 200, response.body)
  const [cookie] = response.cookies
  assert.ok(cookie)
  return `${cookie.name}=${cookie.value}`
}

type Caller = 'nobody' | 'wrong' | 'viewer' | 'admin'
type Way = 'bearer' | 'cookie'

const TABLE: [
  caller: Caller,
  way: Way,
  method: 'GET' | 'HEAD' | 'POST' | 'DELETE',
  origin: string | null,
  status: number,
][] = [
  ['nobody', 'bearer', 'GET', null, 401],
  ['nobody', 'bearer', 'POST', null, 401],
  ['nobody', 'bearer', 'POST', OWN, 401],
  ['wrong', 'bearer', 'GET', null, 401],
  ['wrong', 'bearer', 'POST', null, 401],
  ['wrong', 'cookie', 'GET', null, 401],
  ['wrong', 'cookie', 'POST', OWN, 401],
  ['viewer', 'bearer', 'GET', null, 200],
  ['viewer', 'bearer', 'HEAD', null, 200],
  ['viewer', 'bearer', 'POST', null, 403],
  ['viewer', 'bearer', 'DELETE', null, 403],
  ['viewer', 'cookie', 'GET', null, 200],
  ['viewer', 'cookie', 'HEAD', null, 200],
  ['viewer', 'cookie', 'POST', OWN, 403],
  ['viewer', 'cookie', 'DELETE', OWN, 403],
  ['admin', 'bearer', 'GET', null, 200],
  ['admin', 'bearer', 'POST', null, 200],
  ['admin', 'bearer', 'DELETE', null, 200],
  ['admin', 'cookie', 'GET', null, 200],
  ['admin', 'cookie', 'GET', EVIL, 200],
  ['admin', 'cookie', 'POST', OWN, 200],
  ['admin', 'cookie', 'DELETE', OWN, 200],
  ['admin', 'cookie', 'POST', 'http://localhost', 200],
  ['admin', 'cookie', 'POST', null, 403],
  ['admin', 'cookie', 'POST', EVIL, 403],
  ['admin', 'cookie', 'POST', 'null', 403],
]

const TOKENS: Record<Caller, string | null> = {
  nobody: null,
  wrong: 'wrong-token-0123456789',
  viewer: VIEWER,
  admin: ADMIN,
}

async function credentials(app: HttpApp, caller: Caller, way: Way): Promise<Record<string, string>> {
  const token = TOKENS[caller]
  if (token === null) return {}
  if (way === 'bearer') return bearer(token)
  return { cookie: caller === 'wrong' ? 'tagwarden_session=admin.9999999999999.x' : await cookieOf(app, token) }
}

for (const [caller, way, method, origin, status] of TABLE) {
  const from = origin === null ? '' : ` from a page of ${origin}`
  test(`${caller} with a ${way} gets ${status} for ${method}${from}`, async (t) => {
    const app = await openApp(t, thingRoutes, { access: KEYS })
    const headers = { ...(await credentials(app, caller, way)), ...(origin === null ? {} : { origin }) }
    const response = await app.inject({ method, url: '/api/things', headers })
    assert.equal(response.statusCode, status, response.body)
    if (status === 200 && method !== 'HEAD') assert.deepEqual(response.json(), { actor: caller, role: caller })
  })
}

test('a wrong key is refused even when the cookie is good', async (t) => {
  const app = await openApp(t, thingRoutes, { access: KEYS })
  const headers = { ...bearer('wrong-token-0123456789'), cookie: await cookieOf(app, ADMIN) }
  const answer = await refused(app, { url: '/api/things', headers }, 401, 'unauthorized')
  assert.equal(answer.headers['www-authenticate'], 'Bearer')
})

test('an Authorization header that holds no key does not spare a cookie its Origin', async (t) => {
  const app = await openApp(t, thingRoutes, { access: KEYS })
  const headers = { authorization: 'Basic x', cookie: await cookieOf(app, ADMIN), origin: EVIL }
  await refused(app, { method: 'POST', url: '/api/things', headers }, 403, 'forbidden')
})

test('unknown paths under /api need a key too, everything outside needs none', async (t) => {
  const app = await openApp(t, thingRoutes, { access: KEYS })
  for (const url of ['/api', '/api?x', '/api/', '/api/nothing']) await refused(app, { url }, 401, 'unauthorized')
  await refused(app, { url: '/api/nothing', headers: bearer(ADMIN) }, 404, 'not_found')
  await refused(app, { url: '/nothing' }, 404, 'not_found')
  assert.deepEqual((await app.inject('/outside')).json(), { actor: 'nobody', role: 'nobody' })
})

for (const url of [
  '/api/%74hings',
  '//api/things',
  '/api//things',
  '/x/../api/things',
  '/API/things',
  '/api/things/',
]) {
  test(`the spelling ${url} leads no one past the key`, async (t) => {
    const app = await openApp(t, thingRoutes, { access: KEYS })
    assert.ok([401, 404].includes((await app.inject(url)).statusCode))
  })
}

test('the description of the interface is open without a key', async (t) => {
  const app = await openApp(t, thingRoutes, { access: KEYS })
  for (const url of ['/api/openapi.json', '/api/docs', '/api/docs/static/swagger-ui.css', '/api/session']) {
    assert.equal((await app.inject(url)).statusCode, 200, url)
  }
})

/** What a session says of those who have no account. */
const sessionOf = (
  role: 'admin' | 'viewer' | 'open' | null,
  authentication_required: boolean,
  publicUrl = 'http://tagwarden.example',
) => ({
  role,
  authentication_required,
  accounts: false,
  single_sign_on: null,
  proxy: null,
  user: null,
  access: { all: role === null ? null : role === 'viewer' ? 'viewer' : 'owner', clients: [] },
  // Only people who are signed in may read where the service is reached.
  public_url: role === null ? null : publicUrl,
})

test('signing in sets a cookie that scripts cannot read and other sites do not send', async (t) => {
  for (const [publicUrl, secure] of [
    ['https://tagwarden.example', true],
    ['http://tagwarden.example', undefined],
  ] as const) {
    const app = await openApp(t, thingRoutes, { access: KEYS, publicUrl })
    const response = await app.inject({ method: 'POST', url: '/api/session', payload: { token: VIEWER } })
    assert.deepEqual(response.json(), sessionOf('viewer', true, publicUrl))
    const [cookie] = response.cookies
    assert.equal(cookie?.httpOnly, true)
    assert.equal(cookie?.sameSite, 'Strict')
    assert.equal(cookie?.secure, secure)
    assert.equal(cookie?.maxAge, 30 * 24 * 3_600)
  }
})

test('a session has a role, ends after 12 hours, and can be ended before', async (t) => {
  const clock = new TestClock('2026-11-20T10:00:00Z')
  const app = await openApp(t, thingRoutes, { access: KEYS, clock })
  const session = async (headers: Record<string, string>) => (await app.inject({ url: '/api/session', headers })).json()
  const cookie = await cookieOf(app, ADMIN)
  assert.deepEqual(await session({}), sessionOf(null, true))
  assert.deepEqual(await session({ cookie }), sessionOf('admin', true))
  assert.deepEqual(await session(bearer(VIEWER)), sessionOf('viewer', true))
  const out = await app.inject({ method: 'DELETE', url: '/api/session', headers: { cookie, origin: OWN } })
  assert.equal(out.statusCode, 204)
  assert.equal(out.cookies[0]?.value, '')
  assert.deepEqual(await session({ cookie }), sessionOf(null, true), 'a copy of the cookie')
  const again = await cookieOf(app, ADMIN)
  assert.notEqual(again, cookie)
  clock.advance(12 * HOUR)
  assert.deepEqual(await session({ cookie: again }), sessionOf(null, true))
})

test('a foreign page can sign no one in or out', async (t) => {
  const app = await openApp(t, thingRoutes, { access: KEYS })
  const headers = { origin: EVIL }
  await refused(app, { method: 'POST', url: '/api/session', headers, payload: { token: ADMIN } }, 403, 'forbidden')
  await refused(app, { method: 'DELETE', url: '/api/session', headers }, 403, 'forbidden')
})

const GUESSES: [title: string, guess: InjectOptions, right: InjectOptions][] = [
  [
    'sign-ins',
    { method: 'POST', url: '/api/session', payload: { token: 'wrong' } },
    { method: 'POST', url: '/api/session', payload: { token: ADMIN } },
  ],
  ['keys in headers', { url: '/api/things', headers: bearer('wrong') }, { url: '/api/things', headers: bearer(ADMIN) }],
  [
    'keys shown to an open route',
    { url: '/api/session', headers: bearer('wrong') },
    { url: '/api/session', headers: bearer(ADMIN) },
  ],
]
for (const [title, guess, right] of GUESSES) {
  test(`five wrong ${title} in a row make the address wait, even with the right one`, async (t) => {
    const clock = new TestClock('2026-11-20T10:00:00Z')
    const app = await openApp(t, thingRoutes, { access: KEYS, clock })
    const cookie = await cookieOf(app, ADMIN)
    for (let count = 0; count < 5; count++) await refused(app, guess, 401, 'unauthorized')
    const { headers } = await refused(app, right, 429, 'rate_limited')
    assert.equal(headers['retry-after'], '1')
    assert.equal((await app.inject({ ...right, remoteAddress: '203.0.113.9' })).statusCode, 200, 'another address')
    assert.equal((await app.inject({ url: '/api/things', headers: { cookie } })).statusCode, 200, 'a session')
    clock.advance(1_000)
    await refused(app, guess, 401, 'unauthorized')
    assert.equal((await refused(app, right, 429, 'rate_limited')).headers['retry-after'], '2')
    clock.advance(2_000)
    assert.equal((await app.inject(right)).statusCode, 200)
    for (let count = 0; count < 4; count++) await refused(app, guess, 401, 'unauthorized')
    assert.equal((await app.inject(right)).statusCode, 200, 'a success has forgiven the failures before')
  })
}

test('calls without any key do not count as guesses', async (t) => {
  const app = await openApp(t, thingRoutes, { access: KEYS })
  for (let count = 0; count < 20; count++) await refused(app, { url: '/api/things' }, 401, 'unauthorized')
  assert.equal((await app.inject({ url: '/api/things', headers: bearer(ADMIN) })).statusCode, 200)
})

test('the address behind a trusted proxy is the one that waits; others cannot claim one', async (t) => {
  const app = await openApp(t, thingRoutes, { access: KEYS, trustProxy: ['10.0.0.0/8'] })
  const guess = (remoteAddress: string, forwarded: string, token: string) =>
    app.inject({ url: '/api/things', remoteAddress, headers: { ...bearer(token), 'x-forwarded-for': forwarded } })
  for (let count = 0; count < 5; count++) await guess('10.0.0.1', '203.0.113.9', 'wrong')
  assert.equal((await guess('10.0.0.1', '203.0.113.9', ADMIN)).statusCode, 429)
  assert.equal((await guess('10.0.0.1', '203.0.113.10', ADMIN)).statusCode, 200)
  for (let count = 0; count < 5; count++) await guess('198.51.100.1', `203.0.113.${20 + count}`, 'wrong')
  assert.equal((await guess('198.51.100.1', '203.0.113.99', ADMIN)).statusCode, 429)
})

test('without keys anyone who reaches the service manages it', async (t) => {
  const app = await openApp(t, thingRoutes, { access: NO_KEYS })
  for (const method of ['GET', 'POST'] as const) {
    const response = await app.inject({ method, url: '/api/things' })
    assert.deepEqual(response.json(), { actor: 'anonymous', role: 'open' })
  }
  const open = sessionOf('open', false)
  assert.deepEqual((await app.inject('/api/session')).json(), open)
  const signIn = await app.inject({ method: 'POST', url: '/api/session', payload: { token: 'whatever' } })
  assert.deepEqual(signIn.json(), open)
  assert.equal(signIn.cookies.length, 0)
})

const PAGES: [
  method: 'GET' | 'POST',
  host: string,
  origin: string | null,
  listensOnLoopback: boolean,
  status: number,
][] = [
  ['GET', '127.0.0.1:8080', null, true, 200],
  ['POST', '127.0.0.1:8080', null, true, 200],
  ['POST', '127.0.0.1:8080', 'http://127.0.0.1:8080', true, 200],
  ['POST', '127.0.0.1:8080', OWN, true, 200],
  ['POST', '127.0.0.1:8080', EVIL, true, 403],
  ['POST', '127.0.0.1:8080', 'null', true, 403],
  ['GET', '127.0.0.1:8080', EVIL, true, 200],
  ['GET', 'rebound.example:8080', null, true, 403],
  ['POST', 'rebound.example:8080', 'http://rebound.example:8080', true, 403],
  ['GET', 'tagwarden.example', null, true, 200],
  ['GET', 'rebound.example:8080', null, false, 403],
  ['POST', 'rebound.example:8080', 'http://rebound.example:8080', false, 403],
  ['GET', '192.168.1.5:8080', null, false, 200],
  ['GET', 'tagwarden:8080', null, false, 200],
  ['GET', 'tagwarden:8080', null, true, 403],
  ['POST', 'tagwarden:8080', 'http://tagwarden:8080', false, 200],
  ['POST', 'tagwarden:8080', EVIL, false, 403],
]
for (const [method, host, origin, listensOnLoopback, status] of PAGES) {
  const where = listensOnLoopback ? 'on loopback' : 'for anyone'
  test(`without keys, listening ${where}, ${method} at ${host} with Origin ${origin} gets ${status}`, async (t) => {
    const app = await openApp(t, thingRoutes, { access: { ...NO_KEYS, listensOnLoopback } })
    const headers = { host, ...(origin === null ? {} : { origin }) }
    assert.equal((await app.inject({ method, url: '/api/things', headers })).statusCode, status)
  })
}

test('while it is open, every route is closed to names that are not ours, whatever was forwarded', async (t) => {
  for (const listensOnLoopback of [true, false]) {
    const access = { ...NO_KEYS, listensOnLoopback }
    const app = await openApp(t, thingRoutes, { access, trustProxy: ['127.0.0.1'] })
    for (const url of ['/api/things', '/outside', '/nothing', '/api/session', '/api/openapi.json', '/api/docs']) {
      const headers = { host: 'rebound.example:8080', 'x-forwarded-host': 'localhost' }
      await refused(app, { url, headers }, 403, 'forbidden')
    }
  }
})

test('with keys, only routes that ask for it mind by which name they are called', async (t) => {
  const addRoutes = (app: HttpApp) => {
    thingRoutes(app)
    app.get('/own', { config: { host: 'own' } }, async () => 'own')
  }
  const app = await openApp(t, addRoutes, { access: KEYS })
  const headers = { host: 'rebound.example', ...bearer(ADMIN) }
  assert.equal((await app.inject({ url: '/api/things', headers })).statusCode, 200)
  await refused(app, { url: '/own', headers }, 403, 'forbidden')
  assert.equal((await app.inject({ url: '/own', headers: { host: '10.0.0.5' } })).statusCode, 200)
})

test("a viewer's key in between does not speed up guessing the admin's", async (t) => {
  const app = await openApp(t, thingRoutes, { access: KEYS })
  const get = (token: string) => app.inject({ url: '/api/things', headers: bearer(token) })
  const answers: number[] = []
  for (let count = 0; count < 6; count++) {
    answers.push((await get(`wrong-${count}`)).statusCode)
    assert.equal((await get(VIEWER)).statusCode, 200)
  }
  assert.deepEqual(answers, [401, 401, 401, 401, 401, 429])
  assert.equal((await get(ADMIN)).statusCode, 429)
})

test('guesses of a page that let its own name point here do not lock out those who use ours', async (t) => {
  const app = await openApp(t, thingRoutes, { access: KEYS })
  const get = (host: string, token: string) =>
    app.inject({ url: '/api/things', headers: { host, ...bearer(token) }, remoteAddress: '127.0.0.1' })
  for (let count = 0; count < 5; count++) assert.equal((await get('rebound.example', 'wrong')).statusCode, 401)
  assert.equal((await get('rebound.example', ADMIN)).statusCode, 429)
  assert.equal((await get('127.0.0.1:8080', ADMIN)).statusCode, 200)
})

test('signing in reads 4 kB and no more', async (t) => {
  const app = await openApp(t, thingRoutes, { access: KEYS })
  const signIn = (bytes: number) => ({
    method: 'POST' as const,
    url: '/api/session',
    headers: { 'content-type': 'application/json' },
    payload: JSON.stringify({ token: ADMIN }).padEnd(bytes, ' '),
  })
  assert.equal((await app.inject(signIn(4_096))).statusCode, 200)
  await refused(app, signIn(4_097), 413, 'payload_too_large')
})

test('no cache may keep an answer, of the interface or another', async (t) => {
  const app = await openApp(t)
  for (const url of ['/api/things', '/outside', '/nothing']) {
    assert.equal((await app.inject(url)).headers['cache-control'], 'no-store')
  }
})

test('no route starts with an id whose client is not known, or without saying whose things it is about', async (t) => {
  const app = await openApp(t, () => undefined)
  const unknown = /odd_ids? is an id, and .* does not know which client it belongs to/
  const refusals: [url: string, schema: object, config: FastifyContextConfig, expected: RegExp][] = [
    ['/api/one/:odd_id', { params: Type.Object({ odd_id: Uuid }) }, { scope: 'service' }, unknown],
    ['/api/two', { querystring: Type.Object({ odd_ids: Type.Array(Uuid) }) }, { scope: 'visible' }, unknown],
    ['/api/three', { querystring: Type.Object({ site_id: Uuid }) }, {}, /its config must give its scope/],
  ]
  for (const [url, schema, config, expected] of refusals) {
    assert.throws(() => app.get(url, { schema, config }, async () => null), expected, url)
  }
})
