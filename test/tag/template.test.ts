import assert from 'node:assert/strict'
import { test } from 'node:test'
import { lintTemplate, runTemplateTests } from '../../tag/sandbox/index.ts'
import { readTemplate } from './support.ts'

test('the template keeps the rules of the sandbox and of the gallery', async () => {
  assert.deepEqual(lintTemplate(await readTemplate()), [])
})

const results = runTemplateTests(await readTemplate())

test('the template has tests of its own', () => assert.ok(results.length >= 36))

for (const { name, error, line } of results) {
  test(`template.tpl line ${line}: ${name}`, () => assert.equal(error, null))
}
