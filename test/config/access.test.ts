import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isLoopback, readConfig } from '../../src/config.ts'
import { refusalOf } from './support.ts'

const ADMIN = 'admin-token-0123456789'

for (const host of ['127.0.0.1', '127.8.9.10', '::1', 'localhost']) {
  test(`HOST=${host} is only reached from the same machine and needs no key`, () => {
    assert.ok(isLoopback(host))
    assert.equal(readConfig({ HOST: host }).host, host)
  })
}

for (const host of ['0.0.0.0', '::', '192.168.1.5', '10.127.0.1', 'tags.example.com', 'localhost.example.com']) {
  test(`HOST=${host} needs a key, or the word that none is wanted`, () => {
    assert.ok(!isLoopback(host))
    const line = refusalOf({ HOST: host })
    assert.ok(line.startsWith(`HOST=${host} is reachable by others`), line)
    assert.match(
      line,
      /set ADMIN_TOKEN, or ALLOW_UNAUTHENTICATED=true .*, or ADMIN_EMAIL, OIDC_ISSUER or PROXY_EMAIL_HEADER/,
    )
    assert.equal(refusalOf({ HOST: host, ALLOW_UNAUTHENTICATED: 'false' }), line)
    assert.equal(readConfig({ HOST: host, ADMIN_TOKEN: ADMIN }).host, host)
    assert.equal(readConfig({ HOST: host, ALLOW_UNAUTHENTICATED: 'true' }).host, host)
  })
}

for (const [sign, environment] of [
  ['PUBLIC_URL=https://tagwarden.example.com', { PUBLIC_URL: 'https://tagwarden.example.com' }],
  ['PUBLIC_URL=http://192.168.1.5:8080', { PUBLIC_URL: 'http://192.168.1.5:8080' }],
  ['TRUST_PROXY=127.0.0.1', { TRUST_PROXY: '127.0.0.1' }],
] as const) {
  test(`${sign} shows a proxy on this machine, and needs a key, or the explicit setting that none is wanted`, () => {
    const line = refusalOf(environment)
    assert.ok(line.startsWith(`${sign} says that a proxy forwards requests of others`), line)
    assert.match(line, /set ADMIN_TOKEN, or ALLOW_UNAUTHENTICATED=true/)
    for (const word of [{ ADMIN_TOKEN: ADMIN }, { ALLOW_UNAUTHENTICATED: 'true' }]) {
      assert.equal(readConfig({ ...environment, ...word }).host, '127.0.0.1')
    }
  })
}

for (const url of ['http://localhost:9000', 'http://127.0.0.1:9000', 'http://[::1]:9000']) {
  test(`PUBLIC_URL=${url} leads to this machine alone and needs no key`, () => {
    assert.equal(readConfig({ PUBLIC_URL: url }).publicUrl, url)
  })
}

test('a token that only reads is refused where anyone may change everything', () => {
  assert.match(refusalOf({ VIEWER_TOKEN: ADMIN }), /^VIEWER_TOKEN is set without ADMIN_TOKEN: /)
})

test('the two tokens must differ', () => {
  const line = refusalOf({ ADMIN_TOKEN: ADMIN, VIEWER_TOKEN: ADMIN })
  assert.match(line, /^VIEWER_TOKEN equals ADMIN_TOKEN: /)
  assert.ok(!line.includes(ADMIN))
})
