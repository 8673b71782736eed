import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Permissions } from '../../../tag/sandbox/permissions.ts'
import type { Permission } from '../../../tag/sandbox/types.ts'

const URLS: readonly [pattern: string, url: string, allowed: boolean][] = [
  ['https://a.test/*', 'https://a.test/', true],
  ['https://a.test/*', 'https://a.test/b?c=d', true],
  ['https://a.test/*', 'http://a.test/', false],
  ['https://a.test/*', 'https://b.test/', false],
  ['https://a.test/*', 'https://a.test.evil.test/', false],
  ['https://a.test/*', 'https://a.test:8443/', false],
  ['https://a.test:8443/*', 'https://a.test:8443/', true],
  ['https://A.test/', 'https://a.test/', true],
  ['https://*.a.test/*', 'https://b.a.test/', true],
  ['https://*.a.test/*', 'https://c.b.a.test/', true],
  ['https://*.a.test/*', 'https://a.test/', false],
  ['https://*.a.test/*', 'https://ba.test/', false],
  ['https://a.test/ingest', 'https://a.test/ingest/v2', true],
  ['https://a.test/ingest', 'https://a.test/other', false],
  ['https://a.test/*/ingest', 'https://a.test/b/c/ingest', true],
  ['https://a.test/*/ingest', 'https://a.test/ingest', false],
  ['https://a.test/*', 'no address', false],
  ['a.test/*', 'https://a.test/', false],
]

for (const [pattern, url, allowed] of URLS) {
  test(`send_http for ${pattern} ${allowed ? 'allows' : 'refuses'} ${url}`, () => {
    const params = { allowedUrls: 'specific', urls: [pattern] }
    assert.equal(permissions('send_http', params).allows('send_http', url), allowed)
  })
}

const KEYS: readonly [pattern: string, path: string, allowed: boolean][] = [
  ['user_data', 'user_data', true],
  ['user_data', 'user_data.email', false],
  ['user_data', 'user_data_old', false],
  ['user_data.*', 'user_data.email', true],
  ['user_data.*', 'user_data.address.0.city', true],
  ['user_data.*', 'user_data', false],
  ['user_data.*', 'user_database.email', false],
]

for (const [pattern, path, allowed] of KEYS) {
  test(`read_event_data for ${pattern} ${allowed ? 'allows' : 'refuses'} ${path}`, () => {
    const params = { eventDataAccess: 'specific', keyPatterns: [pattern] }
    assert.equal(permissions('read_event_data', params).allows('read_event_data', path), allowed)
  })
}

test('Access to any address and any key is just that', () => {
  assert.ok(permissions('send_http', { allowedUrls: 'any' }).allows('send_http', 'http://a.test/'))
  assert.ok(permissions('read_event_data', { eventDataAccess: 'any' }).allows('read_event_data', 'a.b'))
})

test('use_message allows each type its own actions', () => {
  const some = permissions('use_message', {
    allowedActions: 'specific',
    messageTypes: [
      { type: 'a', action: 'listen' },
      { type: 'b', action: 'listen_and_send' },
    ],
  })
  some.demandMessage('a', 'listen')
  some.demandMessage('b', 'send')
  assert.throws(() => some.demandMessage('a', 'send'), /does not allow to send “a”/)
  assert.throws(() => some.demandMessage('c', 'listen'), /does not allow to listen “c”/)
  permissions('use_message', { allowedActions: 'any' }).demandMessage('c', 'send')
})

test('A permission that is not declared allows nothing', () => {
  const none = new Permissions([])
  assert.equal(none.allows('send_http', 'https://a.test/'), false)
  assert.equal(none.prints(true), false)
})

const permissions = (publicId: string, params: Permission['params']): Permissions =>
  new Permissions([{ publicId, line: 1, params }])
