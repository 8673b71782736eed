import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CONTAINERS_MAX, DEPTH_MAX, type Excess, excessOf, parseForeignJson } from '../../src/lib/structure.ts'

/** Long enough to be looked at. */
const long = (json: string): string => json + ' '.repeat(20_000)
const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth)

const CASES: readonly [title: string, text: string, excess: Excess | null][] = [
  ['an ordinary payload', long('{"a":[{"b":{}}]}'), null],
  ['nesting up to the bound', long(nested(DEPTH_MAX)), null],
  ['nesting beyond it', long(nested(DEPTH_MAX + 1)), 'too deep'],
  ['objects within lists, beyond it', long('[{"a":'.repeat(40)), 'too deep'],
  ['many lists side by side', long(`[${'[],'.repeat(1_000)}[]]`), null],
  ['as many objects as there may be', long(`[${'{},'.repeat(CONTAINERS_MAX - 2)}{}]`), null],
  ['one more', long(`[${'{},'.repeat(CONTAINERS_MAX - 1)}{}]`), 'too many objects'],
  ['brackets within a text', long(`{"a":"${'['.repeat(40_000)}"}`), null],
  ['a quote within a text', long(`{"a":"\\"${'['.repeat(40_000)}"}`), null],
  ['a text that ends with a backslash', long(`{"a":"\\\\","b":${nested(DEPTH_MAX + 1)}}`), 'too deep'],
  ['a text without an end', long('{"a":"'), null],
  ['more closed than opened', long(']'.repeat(5_000)), null],
  ['a short text, whatever is in it', nested(4_000), null],
]
for (const [title, text, excess] of CASES) {
  test(`what is too costly to parse: ${title}`, () => assert.equal(excessOf(text), excess))
}

test('what passes is parsed by JSON as before', () => {
  for (const [, text, excess] of CASES) {
    if (excess !== null || !text.startsWith('[')) continue
    assert.doesNotThrow(() => JSON.parse(text))
  }
})

const MB = 1_048_576
const HOSTILE = {
  'lists within lists': nested(MB / 2),
  'empty objects': `[${'{},'.repeat(MB / 3)}{}]`,
  'objects within objects': `${'{"a":'.repeat(MB / 6)}1${'}'.repeat(MB / 6)}`,
}
for (const [what, text] of Object.entries(HOSTILE)) {
  test(`1 MB of ${what} from another system is not parsed`, () => {
    assert.doesNotThrow(() => JSON.parse(text))
    assert.equal(parseForeignJson(text), undefined)
  })
}

test('a long list from another system is parsed, and what is no JSON is nothing', () => {
  const list = Array.from({ length: 50_000 }, (_, id) => ({ id }))
  assert.deepEqual(parseForeignJson(JSON.stringify(list)), list)
  assert.equal(parseForeignJson('{'), undefined)
})
