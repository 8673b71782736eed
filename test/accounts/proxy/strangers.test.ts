import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MINUTE } from '../../../src/lib/index.ts'
import { apiClient } from '../../../testkit/api.ts'
import { TestClock } from '../../../testkit/clock.ts'
import { ADMIN, NOW } from '../support.ts'
import {
  callFrom,
  headersOf,
  PROXY,
  type ProxiedService,
  STRANGER,
  startProxied,
  startSigningProxy,
} from './signing-proxy.ts'

const ADA = headersOf({ email: 'ada@agency.example', groups: 'admins' })
const usersOf = ({ admin }: ProxiedService) => admin.ask<unknown[]>('GET', '/api/users')

test('a header from elsewhere lets no one in, whatever else it says, and the log says so once a minute', async (t) => {
  const clock = new TestClock(NOW)
  const stage = await startProxied(t, clock)
  const { url } = stage.api
  const disguises: [string, string][][] = [
    [],
    [['X-Forwarded-For', PROXY]],
    [['Forwarded', `for=${PROXY}`]],
    [['X-Real-IP', PROXY]],
  ]
  for (const address of [STRANGER, '127.0.0.1']) {
    for (const disguise of disguises) {
      const answer = await callFrom(address, url, '/api/clients', [...ADA, ...disguise])
      assert.equal(answer.status, 401, JSON.stringify([address, disguise]))
      const session = await callFrom(address, url, '/api/session', [...ADA, ...disguise])
      assert.deepEqual(
        [session.json<{ role: null; proxy: null }>().role, session.json<{ proxy: null }>().proxy],
        [null, null],
      )
    }
  }
  assert.deepEqual(await usersOf(stage), [])
  const ignored = () => stage.lines.filter(({ msg }) => /outside PROXY_ADDRESSES/.test(msg))
  assert.deepEqual(
    ignored().map(({ address }) => address),
    [STRANGER],
  )
  clock.advance(MINUTE)
  await callFrom('127.0.0.1', url, '/api/session', ADA)
  assert.equal(ignored().length, 2)
  assert.ok(!JSON.stringify(stage.lines).includes('ada@agency.example'))
})

test('X-Forwarded-For of a proxy that is trusted for addresses makes no one the proxy that signs in', async (t) => {
  const stage = await startProxied(t, new TestClock(NOW), { TRUST_PROXY: STRANGER })
  const answer = await callFrom(STRANGER, stage.api.url, '/api/clients', [...ADA, ['X-Forwarded-For', PROXY]])
  assert.equal(answer.status, 401)
  // And one that signs in is itself, whoever it forwards for.
  assert.equal(
    (await callFrom(PROXY, stage.api.url, '/api/clients', [...ADA, ['X-Forwarded-For', STRANGER]])).status,
    200,
  )
})

test("a caller's own header beside the proxy's is refused, in any spelling and for each of the headers", async (t) => {
  const stage = await startProxied(t, new TestClock(NOW))
  const proxy = await startSigningProxy(t, stage.api.url)
  proxy.signed = { email: 'eve@agency.example', name: 'Eve', groups: 'none' }
  proxy.removes = false
  const client = apiClient(proxy.url)
  for (const forged of [
    { 'x-forwarded-email': 'ada@agency.example' },
    { 'X-FORWARDED-EMAIL': 'ada@agency.example' },
    { 'x-forwarded-groups': 'admins' },
    { 'x-forwarded-user': 'Ada' },
  ]) {
    for (const path of ['/api/clients', '/api/session']) {
      const answer = await client.call('GET', path, undefined, forged)
      assert.equal(answer.status, 403, JSON.stringify([forged, path]))
      assert.match(answer.json<{ message: string }>().message, /was sent twice: the proxy must remove it/)
    }
  }
  assert.deepEqual(await usersOf(stage), [])
  const named = await client.call('GET', '/api/session', undefined, { 'x-note': 'x-forwarded-email' })
  assert.equal(named.status, 200)
})

test('what is no address is no one', async (t) => {
  const stage = await startProxied(t, new TestClock(NOW))
  const texts = [
    'ada',
    'ada@',
    '@agency.example',
    'ada@agency.example, eve@agency.example',
    'a b@c.example',
    `${'a'.repeat(250)}@b.example`,
  ]
  for (const email of texts) {
    const answer = await callFrom(PROXY, stage.api.url, '/api/session', headersOf({ email, groups: 'admins' }))
    assert.deepEqual(answer.json<{ proxy: unknown }>().proxy, { problem: 'email', signs_out: false }, email)
    assert.equal((await callFrom(PROXY, stage.api.url, '/api/clients', headersOf({ email }))).status, 401)
  }
  // A proxy that lets someone through without a sign-in may send it empty.
  const empty = await callFrom(PROXY, stage.api.url, '/api/session', headersOf({ email: '', groups: 'admins' }))
  assert.equal(empty.json<{ proxy: null }>().proxy, null)
  assert.deepEqual(await usersOf(stage), [])
})

test('a page of another origin changes nothing for someone whom the proxy has signed in', async (t) => {
  const stage = await startProxied(t, new TestClock(NOW))
  const proxy = await startSigningProxy(t, stage.api.url)
  proxy.signed = { email: 'ada@agency.example', groups: 'admins' }
  const client = apiClient(proxy.url)
  const body = { name: 'Forged' }
  for (const headers of [{ origin: 'https://evil.example' }, { origin: 'null' }, {}]) {
    const answer = await client.call('POST', '/api/clients', body, headers)
    assert.equal(answer.status, 403, JSON.stringify(headers))
    assert.match(answer.json<{ message: string }>().message, /needs an Origin header|may not change anything/)
  }
  assert.equal((await client.call('DELETE', '/api/session', undefined, { origin: 'https://evil.example' })).status, 403)
  assert.deepEqual(await stage.admin.ask('GET', '/api/clients'), [])
  assert.equal((await client.call('POST', '/api/clients', body, { origin: proxy.url })).status, 201)
})

test('no cookie, key or tool call stands in for the header', async (t) => {
  const stage = await startProxied(t, new TestClock(NOW))
  const { url } = stage.api
  await callFrom(PROXY, url, '/api/session', ADA)
  const row = await stage.api.service.store.read.selectFrom('user_identities').select('id').executeTakeFirstOrThrow()
  const credential = `proxy ${row.id} ${Date.parse(NOW)}`
  for (const headers of [
    { cookie: `tagwarden_session=${credential}` },
    { cookie: `tagwarden_session=${encodeURIComponent(credential)}` },
    { authorization: `Bearer ${credential}` },
  ]) {
    assert.equal((await apiClient(url, headers).call('GET', '/api/clients')).status, 401, JSON.stringify(headers))
  }
  // The tools call the interface from within: their calls come from no address of their own.
  const ask = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'list_clients', arguments: {} } }
  const headers = { 'x-forwarded-email': 'ada@agency.example', accept: 'application/json, text/event-stream' }
  assert.equal((await apiClient(url).call('POST', '/mcp', ask, headers)).status, 401)
})

test('a key that is sent along counts, not whom the proxy names', async (t) => {
  const stage = await startProxied(t, new TestClock(NOW))
  const proxy = await startSigningProxy(t, stage.api.url)
  proxy.signed = { email: 'eve@agency.example', groups: 'acme' }
  const session = await apiClient(proxy.url, { authorization: `Bearer ${ADMIN}` }).ask<{ role: string }>(
    'GET',
    '/api/session',
  )
  assert.equal(session.role, 'admin')
  assert.equal(
    (await apiClient(proxy.url, { authorization: 'Bearer wrong-token' }).call('GET', '/api/clients')).status,
    401,
  )
})

test('a range that others are in, too, is warned of at the start', async (t) => {
  const wide = await startProxied(t, new TestClock(NOW), { PROXY_ADDRESSES: '127.0.0.0/8' })
  assert.deepEqual(
    wide.lines.map(({ msg }) => msg),
    ['every machine in this range of PROXY_ADDRESSES can sign in as anyone: name only the proxy'],
  )
})

test('without the setting the header is a header like any other', async (t) => {
  const { PROXY_EMAIL_HEADER, PROXY_ADDRESSES, PROXY_NAME_HEADER, PROXY_GROUPS_HEADER } = {
    PROXY_EMAIL_HEADER: '',
    PROXY_ADDRESSES: '',
    PROXY_NAME_HEADER: '',
    PROXY_GROUPS_HEADER: '',
  }
  const off = { PROXY_EMAIL_HEADER, PROXY_ADDRESSES, PROXY_NAME_HEADER, PROXY_GROUPS_HEADER }
  const stage = await startProxied(t, new TestClock(NOW), off)
  assert.equal((await callFrom(PROXY, stage.api.url, '/api/clients', ADA)).status, 401)
  assert.deepEqual(stage.lines, [])
})
