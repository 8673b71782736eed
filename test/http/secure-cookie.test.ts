import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock } from '../../src/lib/index.ts'
import { startTestService } from '../../testkit/service.ts'

const ADMIN = 'admin-token-0123456789'

const CASES: readonly [what: string, settings: Record<string, string>, proto: string | null, isSecure: boolean][] = [
  ['a proxy of ours says that the browser came by https', { TRUST_PROXY: '127.0.0.1' }, 'https', true],
  ['a proxy of ours says that it came by http', { TRUST_PROXY: '127.0.0.1' }, 'http', false],
  ['people reach the service by https', { PUBLIC_URL: 'https://tagwarden.example' }, null, true],
  ['a stranger says https and no proxy is trusted', {}, 'https', false],
]
for (const [what, settings, proto, isSecure] of CASES) {
  test(`the cookie of a session is for https ${isSecure ? 'alone' : 'and http'} where ${what}`, async (t) => {
    const api = await startTestService(t, systemClock, { ADMIN_TOKEN: ADMIN, ...settings })
    const headers = proto === null ? {} : { 'x-forwarded-proto': proto, 'x-forwarded-for': '203.0.113.7' }
    const answer = await api.call('POST', '/api/session', { token: ADMIN }, headers)
    assert.equal(answer.status, 200, answer.text)
    assert.equal(/; Secure/.test(answer.headers.get('set-cookie') ?? ''), isSecure)
  })
}
