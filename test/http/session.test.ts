import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readSession, sessionKey, signSession } from '../../src/http/access/session.ts'

const tokens = { adminToken: 'admin-token', viewerToken: 'viewer-token' }
const key = sessionKey(tokens)
const value = signSession(key, 'viewer', 1_000)

const EXAMPLES: [title: string, value: string, now: number, role: string | null][] = [
  ['is good before its end', value, 999, 'viewer'],
  ['has ended at its end', value, 1_000, null],
  ['with another role is not ours', value.replace('viewer', 'admin'), 999, null],
  ['with another end is not ours', value.replace('1000', '9000'), 999, null],
  ['with another signature is not ours', `${value.slice(0, -4)}AAAA`, 999, null],
  ['without a signature is not ours', 'viewer.1000', 999, null],
  ['that is empty is not ours', '', 999, null],
  [
    'signed with another key is not ours',
    signSession(sessionKey({ ...tokens, viewerToken: null }), 'admin', 1_000),
    999,
    null,
  ],
]
for (const [title, text, now, role] of EXAMPLES) {
  test(`a session ${title}`, () => assert.equal(readSession(key, text, now), role))
}

test('changing either token changes the key, which signs everybody out', () => {
  const keys = [
    tokens,
    { ...tokens, adminToken: 'x' },
    { ...tokens, viewerToken: 'x' },
    { ...tokens, viewerToken: null },
  ]
  assert.equal(new Set(keys.map((each) => sessionKey(each).toString('hex'))).size, keys.length)
})
