import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pino } from 'pino'
import { Type } from 'typebox'
import { type HttpApp, type HttpAppOptions, MAX_BODY_BYTES, RateLimitedError } from '../../src/http/index.ts'
import { AppError, ERROR_STATUS, type ErrorCode } from '../../src/lib/index.ts'
import { ID, openApp, refused } from './support.ts'

const SECRET = 'SQLITE_CORRUPT in /var/lib/secret.db'

const failing = (thrown: unknown) => (app: HttpApp) => {
  app.get('/api/fail', { config: { scope: 'anyone' } }, async () => {
    throw thrown
  })
}

/** Options that collect the log's lines. */
function loggedInto(lines: string[]): Partial<HttpAppOptions> {
  return { log: pino({ level: 'info' }, { write: (line: string) => void lines.push(line) }) }
}

for (const [code, status] of Object.entries(ERROR_STATUS) as [ErrorCode, number][]) {
  test(`an error ${code} is answered ${status}`, async (t) => {
    const app = await openApp(t, failing(new AppError(code, SECRET, [{ path: '/x', message: 'is odd' }])))
    const { body } = await refused(app, { url: '/api/fail' }, status, code)
    assert.deepEqual(body.details, [{ path: '/x', message: 'is odd' }])
    assert.equal(body.message.includes(SECRET), status < 500)
  })
}

test('an unexpected failure goes to the log in full, and out without its text', async (t) => {
  const lines: string[] = []
  const app = await openApp(t, failing(new Error(SECRET)), loggedInto(lines))
  const { body } = await refused(app, { url: '/api/fail' }, 500, 'internal_error')
  assert.ok(!JSON.stringify(body).includes('SQLITE'))
  assert.equal(lines.length, 1)
  assert.ok(lines[0]?.includes(SECRET))
  assert.ok(lines[0]?.includes('errors.test.ts'), 'with its stack')
  assert.ok(lines[0]?.includes('/api/fail'))
})

test('something thrown that is no Error is an internal error too', async (t) => {
  const app = await openApp(t, failing('just text'))
  await refused(app, { url: '/api/fail' }, 500, 'internal_error')
})

test('a temporary failure is answered 503, and logged once however many requests meet it', async (t) => {
  const lines: string[] = []
  const isPassing = (thrown: unknown) => thrown instanceof Error && thrown.message === SECRET
  const app = await openApp(t, failing(new Error(SECRET)), { ...loggedInto(lines), isPassing })
  const { body } = await refused(app, { url: '/api/fail' }, 503, 'unavailable')
  assert.ok(!JSON.stringify(body).includes('SQLITE'))
  assert.ok(lines[0]?.includes(SECRET))
  await refused(app, { url: '/api/fail' }, 503, 'unavailable')
  assert.equal(lines.length, 1)
})

test('requests that succeed, and those the caller got wrong, are not logged', async (t) => {
  const lines: string[] = []
  const app = await openApp(t, undefined, loggedInto(lines))
  await app.inject({ url: '/api/things' })
  await app.inject({ url: '/api/nothing' })
  await app.inject({ method: 'PUT', url: `/api/things/${ID}`, payload: {} })
  assert.deepEqual(lines, [])
})

test('an answer that does not fit its schema is an internal error', async (t) => {
  const app = await openApp(t, (routes) => {
    const response = { 200: Type.Object({ at: Type.String({ format: 'date-time' }), name: Type.String() }) }
    routes.get('/api/odd', { config: { scope: 'anyone' }, schema: { response } }, async () =>
      JSON.parse('{"at":"2026-11-20T10:00:00Z"}'),
    )
  })
  await refused(app, { url: '/api/odd' }, 500, 'internal_error')
})

test('a caller who has to wait learns how long', async (t) => {
  const app = await openApp(t, failing(new RateLimitedError('slow down', 7)))
  const { headers } = await refused(app, { url: '/api/fail' }, 429, 'rate_limited')
  assert.equal(headers['retry-after'], '7')
})

test('unknown paths, and known ones with another method, are not found', async (t) => {
  const app = await openApp(t)
  for (const [method, url] of [
    ['GET', '/nothing'],
    ['GET', '/api'],
    ['GET', '/api/nothing?x=1'],
    ['PATCH', '/api/things'],
  ] as const) {
    const { body } = await refused(app, { method, url }, 404, 'not_found')
    assert.equal(body.message, `There is no ${method} ${url.split('?')[0]}`)
  }
})

const put = { method: 'PUT', url: `/api/things/${ID}` } as const
const json = { 'content-type': 'application/json' }

for (const payload of ['{', '{"name":"x"', 'name=x', '{"__proto__":{"name":"x"},"name":"x"}']) {
  test(`the body ${payload} is refused as no valid JSON`, async (t) => {
    const app = await openApp(t)
    const { body } = await refused(app, { ...put, headers: json, payload }, 400, 'invalid_request')
    assert.equal(body.message, 'The body is not valid JSON')
  })
}

for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x', undefined]) {
  test(`a body of type ${type} is refused, as a foreign page could send it`, async (t) => {
    const app = await openApp(t)
    const headers = type === undefined ? {} : { 'content-type': type }
    const { body } = await refused(app, { ...put, headers, payload: '{"name":"x"}' }, 400, 'invalid_request')
    assert.match(body.message, /application\/json/)
  })
}

test('an empty body labelled as JSON is no body', async (t) => {
  const app = await openApp(t)
  assert.equal((await app.inject({ method: 'DELETE', url: '/api/things', headers: json })).statusCode, 200)
})

test('a body of 1 MB is taken, one byte more is too large', async (t) => {
  const app = await openApp(t, (routes) => {
    routes.post('/api/large', { config: { scope: 'anyone' } }, async () => ({}))
  })
  const bodyOf = (bytes: number) => ({
    method: 'POST' as const,
    url: '/api/large',
    headers: json,
    payload: JSON.stringify({ x: '' }).replace('""', `"${'x'.repeat(bytes - 8)}"`),
  })
  assert.equal((await app.inject(bodyOf(MAX_BODY_BYTES))).statusCode, 200)
  await refused(app, bodyOf(MAX_BODY_BYTES + 1), 413, 'payload_too_large')
})

test('of a call that needs no key 4 kB are read and no more', async (t) => {
  const app = await openApp(t, (routes) => {
    routes.post('/api/open', { config: { access: 'public' } }, async () => ({}))
  })
  const ofBytes = (bytes: number) => ({
    method: 'POST' as const,
    url: '/api/open',
    headers: json,
    payload: '{}'.padEnd(bytes),
  })
  assert.equal((await app.inject(ofBytes(4_096))).statusCode, 200)
  await refused(app, ofBytes(4_097), 413, 'payload_too_large')
})
