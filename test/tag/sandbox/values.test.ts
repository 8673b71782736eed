import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseTemplate, runTemplateTests } from '../../../tag/sandbox/index.ts'
import { fixture, scenarios } from './fixture.ts'

/** Expressions of the sandbox and what they give. The scenario compares them itself, so the matchers work here too. */
const VALUES: readonly [expression: string, expected: string][] = [
  ["getType('')", "'string'"],
  ['getType(1)', "'number'"],
  ['getType(false)', "'boolean'"],
  ['getType(null)', "'null'"],
  ['getType(undefined)', "'undefined'"],
  ['getType([])', "'array'"],
  ['getType({})', "'object'"],
  ['getType(getType)', "'function'"],
  ['makeString(94)', "'94'"],
  ['makeString(undefined)', "'undefined'"],
  ['makeString([1, 2])', "'1,2'"],
  ["makeNumber('1.5')", '1.5'],
  ["makeInteger('7.9')", '7'],
  ['makeInteger(0 - 7.9)', '0 - 7'],
  ["makeTableMap([{ k: 'a', v: 1 }, { k: 'b', v: 2 }], 'k', 'v')", '{ a: 1, b: 2 }'],
  ["makeTableMap(undefined, 'k', 'v')", 'null'],
  ['JSON.parse(\'{"a":[1,null]}\')', '{ a: [1, null] }'],
  ["JSON.parse('{')", 'undefined'],
  ['JSON.stringify({ a: [1, undefined], b: undefined })', '\'{"a":[1,null]}\''],
  ['JSON.stringify(cyclic())', 'undefined'],
  ['Object.keys({ a: 1, b: 2 })', "['a', 'b']"],
  ['Object.values({ a: 1, b: [2] })', '[1, [2]]'],
  ['Object.entries({ a: 1 })', "[['a', 1]]"],
  ["remove({ a: 1, b: 2 }, 'a')", '{ b: 2 }'],
  ["Object.delete(Object.freeze({ a: 1 }), 'a')", 'false'],
  ['Math.max(1, 3, 2)', '3'],
  ['Math.floor(1.9) + Math.round(1.5) + Math.pow(2, 3)', '11'],
  ['generateRandom(4, 4)', '4'],
  ["require('encodeUriComponent')('a b/ü')", "'a%20b%2F%C3%BC'"],
  ["require('encodeUri')('https://a.test/ü?b=c d')", "'https://a.test/%C3%BC?b=c%20d'"],
  ["require('decodeUriComponent')('a%20b')", "'a b'"],
  ["require('decodeUri')('%E0%A4%A')", 'undefined'],
  ["require('toBase64')('ü?>')", "'w7w/Pg=='"],
  ["require('toBase64')('ü?>', { urlEncoding: true })", "'w7w_Pg'"],
  ["require('fromBase64')('w7w_Pg')", "'ü?>'"],
  ["require('fromBase64')('{')", 'undefined'],
  ["require('parseUrl')('https://a.test:8080/b?c=1&d=2&d=3#e').searchParams", "{ c: '1', d: ['2', '3'] }"],
  ["require('parseUrl')('https://a.test:8080/b').host", "'a.test:8080'"],
  ["require('parseUrl')('a.test')", 'undefined'],
  ["require('testRegex')(require('createRegex')('^A+$', 'i'), 'aa')", 'true'],
  ["require('testRegex')('a', 'a')", 'false'],
  ["require('createRegex')('(')", 'null'],
  ["'a1b2'.match(require('createRegex')('[0-9]', 'g'))", "['1', '2']"],
  ["'a1b2'.replace(require('createRegex')('[0-9]', 'g'), '-')", "'a-b-'"],
  ["'a1b2'.search(require('createRegex')('b'))", '2'],
  ["'a,b'.split(',')", "['a', 'b']"],
  ["'abc'.match('b+')[0]", "'b'"],
  ["'abc'.replace('b', 'x')", "'axc'"],
  ['(255).toString(16)', "'ff'"],
  ['[3, 1, 2].sort()', '[1, 2, 3]'],
  ['[[1], [2]].map((item) => item[0])', '[1, 2]'],
  ["'abc'.includes", 'undefined'],
  ['[].find', 'undefined'],
  ['getType.call', 'undefined'],
  ['({}).valueOf', 'undefined'],
  ["({ a: 1 }).hasOwnProperty('a')", 'true'],
]

const SETUP = `setup: |-
  const getType = require('getType');
  const makeString = require('makeString');
  const makeNumber = require('makeNumber');
  const makeInteger = require('makeInteger');
  const makeTableMap = require('makeTableMap');
  const JSON = require('JSON');
  const Object = require('Object');
  const Math = require('Math');
  const generateRandom = require('generateRandom');
  const cyclic = () => { const one = {}; one.self = one; return one; };
  const remove = (object, key) => { Object.delete(object, key); return object; };`

for (const [expression, expected] of VALUES) {
  test(`In the sandbox ${expression} is ${expected}`, () => {
    assert.equal(failure(`assertThat(${expression}).isEqualTo(${expected});`), null)
    const other = expected === 'null' ? 'undefined' : 'null'
    assert.match(failure(`assertThat(${expression}).isEqualTo(${other});`) ?? '', /isEqualTo/)
  })
}

for (const name of [
  'Date',
  'RegExp',
  'Array',
  'String',
  'globalThis',
  'process',
  'console',
  'setTimeout',
  'fetch',
  'eval',
  'Function',
  'Symbol',
]) {
  test(`The sandbox has no global ${name}`, () => {
    assert.match(failure(`${name}.name;`) ?? '', new RegExp(`ReferenceError: ${name} is not defined`))
  })
}

for (const way of [
  "''.constructor",
  '({}).__proto__',
  'getType.constructor',
  'runCode.constructor',
  'JSON.constructor',
  '[].constructor',
  'this',
]) {
  test(`${way} leads nowhere`, () => {
    assert.equal(failure(`assertThat(${way}).isUndefined();`), null)
  })
}

test('A number that is none stays recognisable', () => {
  assert.equal(failure("assertThat(makeNumber('a')).isNaN(); assertThat(makeInteger({})).isNaN();"), null)
})

function failure(code: string): string | null {
  const template = parseTemplate(fixture({ tests: `${scenarios({ Value: code })}\n${SETUP}` }))
  return runTemplateTests(template)[0]?.error ?? null
}
