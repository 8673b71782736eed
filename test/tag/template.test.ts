import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { lintTemplate, runTemplateTests } from '../../tag/sandbox/index.ts'
import { readableFields } from './marked.ts'
import { readTemplate } from './support.ts'

const listOf = (value: unknown) => (Array.isArray(value) ? value : []) as Readonly<Record<string, unknown>>[]

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

test('the form takes variables for endpoint, key and numbers, and refuses a key that cannot be one and a variable as a name', async () => {
  const { parameters } = await readTemplate()
  const columns = parameters.flatMap(({ source }) => [source, ...listOf(source.simpleTableColumns)])
  const takes = (name: string, text: string): boolean => {
    const field = columns.find((column) => column.name === name)
    const patterns = listOf(field?.valueValidators).flatMap(({ args }) => listOf(args).map(String))
    assert.ok(patterns.length > 0, name)
    return patterns.every((pattern) => new RegExp(pattern).test(text))
  }
  const key = randomBytes(32).toString('base64url')
  const taken = {
    endpoint: ['https://a.example/ingest', '{{Endpoint}}'],
    ingestKey: [key, '{{Key}}'],
    name: ['Käufer 1'],
    batchSize: ['1', '500', '{{Size}}'],
    sampleEvery: ['1', '1000', '{{One in}}'],
    maxBatchAgeSeconds: ['0', '{{Age}}'],
  }
  const refused = {
    endpoint: ['a.example', 'http://a.example'],
    ingestKey: [`${key} `, key.slice(1)],
    name: ['{{E-mail}}'],
    batchSize: ['0', '501', '5 {{Size}}'],
    sampleEvery: ['0', '1001', '{{}}'],
    maxBatchAgeSeconds: ['-1', '1.5'],
  }
  for (const [name, texts] of Object.entries(taken)) for (const text of texts) assert.ok(takes(name, text), text)
  for (const [name, texts] of Object.entries(refused)) for (const text of texts) assert.ok(!takes(name, text), text)
})

const results = runTemplateTests(await readTemplate())

test('the template has tests of its own', () => assert.ok(results.length >= 36))

for (const { name, error, line } of results) {
  test(`template.tpl line ${line}: ${name}`, () => assert.equal(error, null))
}
