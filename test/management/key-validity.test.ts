import assert from 'node:assert/strict'
import { test } from 'node:test'
import { keyState, keysOf, siteKeyFields } from '../../src/management/key-validity.ts'
import type { SiteKeyRow } from '../../src/store/index.ts'

const NOW = 1_000
const key = (name: string, over: Partial<SiteKeyRow> = {}): SiteKeyRow => ({
  id: name,
  site_id: 'site',
  name,
  ingest_key: `key-${name}`,
  created_at: 0,
  expires_at: null,
  revoked_at: null,
  ...over,
})

const STATES: readonly [what: string, times: Partial<SiteKeyRow>, state: string][] = [
  ['a key without an end', {}, 'valid'],
  ['a key that ends later', { expires_at: NOW + 1 }, 'expiring'],
  ['a key that ends now', { expires_at: NOW }, 'expired'],
  ['a key that was revoked now', { revoked_at: NOW }, 'revoked'],
  ['a key that was revoked before it would have ended', { revoked_at: NOW - 2, expires_at: NOW - 1 }, 'revoked'],
  ['a key that is to be revoked by a clock that was ahead', { revoked_at: NOW + 1 }, 'valid'],
]
for (const [what, times, state] of STATES) {
  test(`${what} is ${state}`, () => assert.equal(keyState(key('a', times), NOW), state))
}

const FIELDS: readonly [what: string, keys: SiteKeyRow[], name: string, revokedAt: number | null][] = [
  ['the newest of two without an end', [key('a'), key('b')], 'b', null],
  ['the one without an end', [key('a'), key('b', { expires_at: 2_000 })], 'a', null],
  ['the one that lasts longest', [key('a', { expires_at: 3_000 }), key('b', { expires_at: 2_000 })], 'a', 3_000],
  ['the one that ended last', [key('a', { revoked_at: 900 }), key('b', { revoked_at: 800 })], 'a', 900],
  [
    'the newest of those that were revoked together',
    [key('a', { revoked_at: 9 }), key('b', { revoked_at: 9 })],
    'b',
    9,
  ],
]
for (const [what, keys, name, key_revoked_at] of FIELDS) {
  test(`the site's own key is ${what}`, () =>
    assert.deepEqual(siteKeyFields(keys), { ingest_key: `key-${name}`, key_revoked_at }))
}

const site = { id: 'site', ingest_key: 'key-b', key_revoked_at: null, created_at: 5 }

test('a site that a node of the version before created has its own key', () => {
  const [only, ...others] = keysOf(site, [])
  assert.deepEqual(only, key('main', { id: 'site', ingest_key: 'key-b', created_at: 5 }))
  assert.deepEqual(others, [])
})

test('a key that a node of the version before revoked is revoked, and no other', () => {
  const keys = keysOf({ ...site, key_revoked_at: 700 }, [key('b', { created_at: 2 }), key('a', { created_at: 1 })])
  assert.deepEqual(
    keys.map(({ name, revoked_at }) => [name, revoked_at]),
    [
      ['a', null],
      ['b', 700],
    ],
  )
})

test('the end of the last key that is written in the site revokes none that ends before', () => {
  const rows = [key('a', { expires_at: 3_000 }), key('b', { expires_at: 2_000 })]
  const fields = siteKeyFields(rows)
  const revoked = keysOf({ ...site, ...fields }, rows).filter(({ revoked_at }) => revoked_at !== null)
  assert.deepEqual(revoked, [])
})
