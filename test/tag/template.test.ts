import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { lintTemplate, runTemplateTests } from '../../tag/sandbox/index.ts'
import { readableFields } from './marked.ts'
import { readTemplate } from './support.ts'

test('the template keeps the rules of the sandbox and of the gallery', async () => {
  assert.deepEqual(lintTemplate(await readTemplate()), [])
})

test('the readme of the gallery lists every setting of the form, and how many keys of an event are read', async () => {
  const template = await readTemplate()
  const readme = await readFile(join(import.meta.dirname, '../../tag/README.md'), 'utf8')
  const listed = [...readme.matchAll(/^\| ([^|]+) \|/gm)].map(([, cell]) => cell ?? '')
  const settings = template.parameters.filter(({ type }) => type !== 'GROUP').map(({ source }) => source)
  const labels = settings.map(({ displayName, checkboxText }) => String(displayName ?? checkboxText))
  assert.deepEqual(
    labels.filter((label) => !listed.some((cell) => label.startsWith(cell))),
    [],
  )
  assert.ok(readme.includes(`${readableFields(template).length} named keys`))
})

const results = runTemplateTests(await readTemplate())

test('the template has tests of its own', () => assert.ok(results.length >= 36))

for (const { name, error, line } of results) {
  test(`template.tpl line ${line}: ${name}`, () => assert.equal(error, null))
}
