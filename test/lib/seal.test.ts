import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Seal } from '../../src/lib/seal.ts'

const seal = new Seal('secret-of-the-client-0123456789')

test('what is sealed opens on every node with the secret, for what it was sealed for', () => {
  const sealed = seal.close('state and verifier', 'sign-in under way')
  assert.ok(!Buffer.from(sealed, 'base64url').toString('latin1').includes('verifier'))
  assert.equal(new Seal('secret-of-the-client-0123456789').open(sealed, 'sign-in under way'), 'state and verifier')
  assert.equal(seal.open(sealed, 'sign-out hint'), null)
  assert.equal(new Seal('another-secret-0123456789').open(sealed, 'sign-in under way'), null)
  assert.notEqual(seal.close('state and verifier', 'sign-in under way'), sealed)
})

test('what someone changed or made up does not open', () => {
  const sealed = seal.close('state', 'sign-in under way')
  const bytes = Buffer.from(sealed, 'base64url')
  for (let at = 0; at < bytes.length; at++) {
    const changed = Buffer.from(bytes)
    changed[at] = (changed[at] ?? 0) ^ 1
    assert.equal(seal.open(changed.toString('base64url'), 'sign-in under way'), null)
  }
  for (const text of ['', 'A', sealed.slice(0, 30), 'ключ', '{}']) {
    assert.equal(seal.open(text, 'sign-in under way'), null)
  }
})
