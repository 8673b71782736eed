import assert from 'node:assert/strict'
import { glob } from 'node:fs/promises'
import { test } from 'node:test'
import { amount, isInTurn } from '../../testkit/length.ts'
import { madePatterns, madePatternsIn, patternsIn, slowTextFor } from '../../testkit/patterns.ts'
import { REPOSITORY } from '../../testkit/repository.ts'

test('every regular expression takes time in proportion to the text, whatever a stranger writes into it', async () => {
  const slow: string[] = []
  let count = 0
  for await (const file of glob('src/**/*.ts', { cwd: REPOSITORY })) {
    for (const found of await patternsIn(REPOSITORY, file)) {
      if (!isInTurn(count++, 3)) continue
      const text = slowTextFor(found)
      if (text !== null) slow.push(`${found.place} ${found.pattern}: ${text}`)
    }
  }
  assert.ok(count > 100, `only ${count} were found`)
  assert.deepEqual(slow, [])
})

/** Regular expressions made at run time, which the test above does not see. Who adds one says here why it is none of a stranger's. */
const MADE: Readonly<Record<string, string>> = {
  'src/cli/demo/sites.ts: new RegExp(`^http://${TAG_SERVER_HOST}:(\\\\d+)/`)':
    'of a constant, without a repetition but of digits at a fixed place; for addresses that the demo itself has written',
}

test('regular expressions are written as such, and made at run time only where it was decided', async () => {
  const made: string[] = []
  for await (const file of glob('src/**/*.ts', { cwd: REPOSITORY }))
    made.push(...(await madePatternsIn(REPOSITORY, file)))
  assert.deepEqual(made.sort(), Object.keys(MADE).sort())
})

for (const code of [
  'new RegExp(text)',
  'RegExp(text)',
  "new RegExp('(a+)+$')",
  'new RegExp(`^a`)',
  'new globalThis.RegExp(text)',
  'const make = RegExp',
  'list.map(RegExp)',
]) {
  test(`a regular expression that is made by ${code} is found`, () => assert.equal(madePatterns(code).length, 1))
}

for (const code of ['new RegExp(/a/, flags)', 'value instanceof RegExp', 'const pattern = /RegExp(text)/']) {
  test(`none is found in ${code}`, () => assert.deepEqual(madePatterns(code), []))
}

/** Beyond what any linear matching takes. */
const SURELY_SLOW_MS = amount(125, 500)

const KNOWN_SLOW = [
  /\\+\//g,
  /[?#].*$/,
  /<[^>]*>/g,
  /\/plugins\/complianz-(gdpr|terms-conditions)(-premium)?\/.*\.js$/,
  /^(a+)+$/,
]

test('the search for slow texts finds those of patterns that are known to be slow', () => {
  for (const pattern of KNOWN_SLOW)
    assert.notEqual(slowTextFor({ place: '', pattern }, 1, SURELY_SLOW_MS), null, String(pattern))
})
