import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { type TestContext, test } from 'node:test'
import { systemClock } from '../../src/lib/index.ts'
import { bearer } from '../../testkit/api.ts'
import { eventPayload } from '../../testkit/deltas.ts'
import { startTestService, type TestService } from '../../testkit/service.ts'

const BROWSER = { accept: 'text/html,*/*;q=0.8' }
const ADMIN_TOKEN = '0b6f3c1e9a7d42588cb1a6f04e'
const KEY = bearer(ADMIN_TOKEN)

/** Of what is no page and belongs to no other site. */
const DATA: Readonly<Record<string, string | null>> = {
  'x-content-type-options': 'nosniff',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'x-robots-tag': 'noindex, nofollow',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-store',
  'strict-transport-security': null,
}

type Expected = Readonly<Record<string, string | RegExp | null>>

interface Row {
  title: string
  path: string | ((site: string) => string)
  method?: string
  headers?: Record<string, string>
  status: number
  type: RegExp
  /** What is not as it is for data. */
  but?: Expected
}

const PAGE: Expected = {
  'content-security-policy': /^default-src 'none'; script-src 'self'; .*frame-ancestors 'none'$/,
  'referrer-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
}

const JSON_TYPE = /^application\/json/
const overview = (site: string) => `/api/monitoring/sites/${site}/overview?hours=2`

const ROWS: readonly Row[] = [
  { title: 'the dashboard', path: '/', headers: BROWSER, status: 200, type: /^text\/html/, but: PAGE },
  ...['/status/some-token', '/%73tatus/some-token'].map((path) => ({
    title: `a shared status page at ${path}`,
    path,
    headers: BROWSER,
    status: 200,
    type: /^text\/html/,
    but: { ...PAGE, 'referrer-policy': 'no-referrer' },
  })),
  {
    title: 'a file of the dashboard without a hash in its name',
    path: '/static/favicon-ok.svg',
    status: 200,
    type: /^image\/svg/,
    but: { 'cache-control': 'no-cache' },
  },
  { title: 'a report', path: overview, headers: KEY, status: 200, type: JSON_TYPE },
  {
    title: 'the overview, which is asked for again and again',
    path: '/api/dashboard/overview',
    headers: KEY,
    status: 200,
    type: JSON_TYPE,
    but: { 'cache-control': 'private, no-cache' },
  },
  { title: 'the list of sites', path: '/api/sites', headers: KEY, status: 200, type: JSON_TYPE },
  { title: 'a refusal for want of a key', path: '/api/sites', status: 401, type: JSON_TYPE },
  { title: 'an unknown address of the interface', path: '/api/nothing', headers: KEY, status: 404, type: JSON_TYPE },
  { title: 'an address that is none', path: '/api/%zz', headers: KEY, status: 404, type: JSON_TYPE },
  { title: 'a body that is no JSON', path: '/api/clients', method: 'POST', headers: KEY, status: 400, type: JSON_TYPE },
  {
    title: 'an unknown address outside of it',
    path: '/nothing',
    headers: { accept: 'application/json' },
    status: 404,
    type: JSON_TYPE,
  },
  {
    title: 'a table for download',
    path: (site) => `/api/monitoring/sites/${site}/export.csv?metric=events&hours=2`,
    headers: KEY,
    status: 200,
    type: /^text\/csv/,
  },
  {
    title: 'the stream of events',
    path: '/api/stream',
    headers: KEY,
    status: 200,
    type: /^text\/event-stream/,
  },
  {
    title: 'a badge, which others show on their pages',
    path: (site) => `/badge/${site}.svg`,
    status: 200,
    type: /^image\/svg/,
    but: {
      'content-security-policy': "default-src 'none'",
      'cross-origin-resource-policy': 'cross-origin',
      'cache-control': 'public, max-age=60',
    },
  },
  {
    title: 'the description of the interface for people',
    path: '/api/docs/',
    status: 200,
    type: /^text\/html/,
    but: { 'content-security-policy': /^default-src 'self'; .*base-uri 'none'; .*frame-ancestors 'none'$/ },
  },
  // It holds no data, and a cache that keeps it asks whether it is still the same.
  {
    title: 'and for programs',
    path: '/api/openapi.json',
    status: 200,
    type: JSON_TYPE,
    but: { 'cache-control': 'no-cache' },
  },
  { title: 'the sign of life', path: '/health', status: 200, type: JSON_TYPE },
  { title: 'readiness', path: '/ready', status: 200, type: JSON_TYPE },
  { title: 'metrics', path: '/metrics', status: 200, type: /^text\/plain/ },
]

/** A service with one site that has sent something. */
async function openService(t: TestContext, environment: Record<string, string> = {}) {
  const api = await startTestService(t, systemClock, { ADMIN_TOKEN, ...environment })
  const create = async (path: string, body: object) =>
    (await api.call('POST', path, body, KEY)).json<{ id: string; client_id: string; ingest_key: string }>()
  const client = await create('/api/clients', { name: 'Acme' })
  const site = await create('/api/sites', { client_id: client.id, name: 'shop', url: 'https://shop.example' })
  assert.equal((await api.ingest(site, eventPayload({ timestamp_ms: Date.now() }))).status, 200)
  return { api, site }
}

/** Asks, and hangs up when the head is there: a stream has no end. */
async function ask({ url }: TestService, { path, method = 'GET', headers = {} }: Row, site: string) {
  const interruption = new AbortController()
  const body = method === 'GET' ? {} : { body: '{', headers: { ...headers, 'content-type': 'application/json' } }
  const answer = await fetch(url + (typeof path === 'string' ? path : path(site)), {
    method,
    headers,
    ...body,
    signal: interruption.signal,
  })
  interruption.abort()
  return answer
}

function assertHeaders(headers: Headers, expected: Expected): void {
  for (const [name, value] of Object.entries(expected)) {
    const given = headers.get(name)
    if (value instanceof RegExp) assert.match(given ?? '', value, name)
    else assert.equal(given, value, name)
  }
}

test('every kind of answer says what may be done with it', async (t) => {
  const { api, site } = await openService(t)
  for (const row of ROWS) {
    await t.test(row.title, async () => {
      const { status, headers } = await ask(api, row, site.id)
      assert.equal(status, row.status)
      assert.match(headers.get('content-type') ?? '', row.type)
      assertHeaders(headers, { ...DATA, ...row.but })
      assert.equal(headers.get('server'), null)
      assert.equal(headers.get('x-powered-by'), null)
    })
  }
})

test('a file with a hash in its name is kept forever, and is no other page’s', async (t) => {
  const { api } = await openService(t)
  const page = await api.call('GET', '/', undefined, BROWSER)
  const [, asset = ''] = /(?:src|href)="(\/assets\/[^"]+\.js)"/.exec(page.text) ?? []
  const { status, headers } = await api.call('GET', asset)
  assert.equal(status, 200)
  assertHeaders(headers, { ...DATA, 'cache-control': 'public, max-age=31536000, immutable' })
})

test('an address that is https is declared https only, on every kind of answer', async (t) => {
  const { api, site } = await openService(t, { PUBLIC_URL: 'https://tagwarden.example.com' })
  for (const row of ROWS) {
    const { headers } = await ask(api, row, site.id)
    assert.equal(headers.get('strict-transport-security'), 'max-age=31536000', row.title)
  }
})

test('signing in sets a cookie that no script and no other site can use', async (t) => {
  const { api } = await openService(t, { PUBLIC_URL: 'https://tagwarden.example.com' })
  const from = { origin: 'https://tagwarden.example.com' }
  const { status, headers } = await api.call('POST', '/api/session', { token: ADMIN_TOKEN }, from)
  assert.equal(status, 200)
  assertHeaders(headers, { ...DATA, 'strict-transport-security': 'max-age=31536000' })
  const cookie = headers.get('set-cookie') ?? ''
  for (const part of [/; HttpOnly/, /; Secure/, /; SameSite=Strict/, /; Path=\//]) assert.match(cookie, part)
  assert.ok(!cookie.includes(ADMIN_TOKEN))
})

test('what is not even a request is answered with a type that is not guessed at', async (t) => {
  const { api } = await openService(t)
  const { hostname, port } = new URL(api.url)
  const socket = connect(Number(port), hostname)
  socket.write('NONSENSE\r\n\r\n')
  assert.match(await text(socket), /^HTTP\/1\.1 400 .*\r\nX-Content-Type-Options: nosniff\r\n/s)
})

test('ingest, which browsers do not call, has no header but those of its short and fixed bodies', async (t) => {
  const { api, site } = await openService(t)
  for (const key of [site.ingest_key, 'unknown']) {
    const { headers } = await api.call('POST', '/ingest', eventPayload({ timestamp_ms: Date.now() }), {
      'x-service-key': key,
    })
    const names = [...headers.keys()].filter((name) => !['connection', 'date', 'keep-alive'].includes(name))
    assert.deepEqual(names.sort(), ['content-length', 'content-type'])
  }
})
