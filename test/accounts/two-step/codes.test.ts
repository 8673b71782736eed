import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  addressForApp,
  codeDelay,
  hashOfRecoveryCode,
  newRecoveryCodes,
  newTwoStepSecret,
  stepOfCode,
} from '../../../src/accounts/two-step/codes.ts'
import { HOUR, SECOND } from '../../../src/lib/index.ts'

/** RFC 6238, appendix B, for SHA-1: the last six of its eight digits. */
const SECRET = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ'
for (const [seconds, code] of [
  [59, '287082'],
  [1_111_111_109, '081804'],
  [1_111_111_111, '050471'],
  [1_234_567_890, '005924'],
  [2_000_000_000, '279037'],
] as const) {
  test(`at ${seconds} s the code is ${code}, as RFC 6238 has it, and is right half a minute before and after`, () => {
    const step = Math.floor(seconds / 30)
    for (const [steps, found] of [
      [-2, null],
      [-1, step],
      [0, step],
      [1, step],
      [2, null],
    ] as const) {
      assert.equal(stepOfCode(SECRET, code, (step + steps) * 30 * SECOND), found, `${steps} steps later`)
    }
  })
}

test('what is no code is none', () => {
  for (const code of ['', '28708', '2870820', ' 287082', '28708２', 'abcdef']) {
    assert.equal(stepOfCode(SECRET, code, 59 * SECOND), null)
  }
})

test('a secret has 160 bits, and an app reads whose it is', () => {
  const secret = newTwoStepSecret()
  assert.match(secret, /^[A-Z2-7]{32}$/)
  assert.notEqual(newTwoStepSecret(), secret)
  const uri = new URL(addressForApp(secret, 'ada+1@agency.example'))
  assert.equal(uri.protocol, 'otpauth:')
  assert.equal(decodeURIComponent(uri.pathname).split('/').at(-1), 'Tagwarden:ada+1@agency.example')
  assert.deepEqual(
    [uri.searchParams.get('secret'), uri.searchParams.get('digits'), uri.searchParams.get('period')],
    [secret, '6', '30'],
  )
})

test('recovery codes are ten, all different, and taken however they are typed', () => {
  const codes = newRecoveryCodes()
  assert.equal(new Set(codes).size, 10)
  const [code = ''] = codes
  assert.match(code, /^([0-9a-hjkmnp-tv-z]{4}-){3}[0-9a-hjkmnp-tv-z]{4}$/)
  const hash = hashOfRecoveryCode('ada', code)
  for (const typed of [code.toUpperCase(), code.replaceAll('-', ''), ` ${code.replaceAll('-', ' ')} `]) {
    assert.equal(hashOfRecoveryCode('ada', typed), hash)
  }
  assert.equal(hashOfRecoveryCode('ada', code.replaceAll('0', 'o').replaceAll('1', 'l')), hash)
  assert.notEqual(hashOfRecoveryCode('bob', code), hash)
})

test('wrong codes in a row cost up to an hour each', () => {
  assert.deepEqual([4, 5, 6, 16, 17, 1_000].map(codeDelay), [0, SECOND, 2 * SECOND, 2_048 * SECOND, HOUR, HOUR])
})
