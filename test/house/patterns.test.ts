import assert from 'node:assert/strict'
import { glob } from 'node:fs/promises'
import { test } from 'node:test'
import { patternsIn, slowTextFor } from './patterns.ts'
import { REPOSITORY } from './trial-project.ts'

test('every regular expression takes time in proportion to the text, whatever a stranger writes into it', async () => {
  const slow: string[] = []
  let count = 0
  for await (const file of glob('src/**/*.ts', { cwd: REPOSITORY })) {
    for (const found of await patternsIn(REPOSITORY, file)) {
      count++
      const text = slowTextFor(found)
      if (text !== null) slow.push(`${found.place} ${found.pattern}: ${text}`)
    }
  }
  assert.ok(count > 100, `only ${count} were found`)
  assert.deepEqual(slow, [])
})

const KNOWN_SLOW = [
  /\\+\//g,
  /[?#].*$/,
  /<[^>]*>/g,
  /\/plugins\/complianz-(gdpr|terms-conditions)(-premium)?\/.*\.js$/,
  /^(a+)+$/,
]

test('the search for slow texts finds those of patterns that are known to be slow', () => {
  for (const pattern of KNOWN_SLOW) assert.notEqual(slowTextFor({ place: '', pattern }, 1), null, String(pattern))
})
