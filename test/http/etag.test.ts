import assert from 'node:assert/strict'
import { test } from 'node:test'
import { etagOf, matchesEtag } from '../../src/http/index.ts'

test('a validator follows the content', () => {
  assert.equal(etagOf({ a: [1] }), etagOf({ a: [1] }))
  assert.notEqual(etagOf({ a: [1] }), etagOf({ a: [2] }))
  assert.match(etagOf({}), /^"[\w-]+"$/)
})

const cases: readonly [header: string | undefined, matches: boolean][] = [
  [undefined, false],
  ['"a"', true],
  ['W/"a"', true],
  ['"b", "a"', true],
  ['"b",W/"a" ', true],
  ['*', true],
  ['"b"', false],
  ['a', false],
  ['', false],
]
for (const [header, matches] of cases) {
  test(`If-None-Match: ${header} ${matches ? 'names' : 'does not name'} "a"`, () => {
    assert.equal(matchesEtag(header, '"a"'), matches)
  })
}
