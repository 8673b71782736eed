import assert from 'node:assert/strict'
import { test } from 'node:test'
import { localPath } from '../../../src/accounts/oidc/routes.ts'

const OWN = 'https://tagwarden.example'

for (const path of ['/', '/overview', '/sites/7?range=24h#chart', '/a//b', '/?next=https://evil.example']) {
  test(`${path} is a page of ours`, () => assert.equal(localPath(path), path))
}

for (const text of [
  undefined,
  '',
  'overview',
  'https://evil.example/',
  'javascript:alert(1)',
  '//evil.example',
  '///evil.example',
  '/\\evil.example',
  '\\/evil.example',
  '/\t/evil.example',
  '/\n/evil.example',
  '/.//evil.example',
  '/a/..//evil.example',
  '/%2e//evil.example',
  '//user@evil.example',
  ' //evil.example',
  '/api/oidc/sign-in',
  '/x/../api/session',
  `/${'€'.repeat(300)}`,
]) {
  test(`${JSON.stringify(text)} leads to the start, never to another host`, () => {
    const path = localPath(text)
    assert.equal(path, '/')
    assert.equal(new URL(path, OWN).origin, OWN)
  })
}
