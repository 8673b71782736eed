import assert from 'node:assert/strict'
import { test } from 'node:test'
import { completed } from '../../src/http/openapi-details.ts'
import { openApp } from './support.ts'

interface Operation {
  tags?: string[]
  summary?: string
  description?: string
  security?: unknown[]
  parameters?: { name: string; in: string }[]
  responses: Record<string, { description: string; content?: Record<string, { schema: unknown }> }>
}
interface Document {
  openapi: string
  info: { title: string; version: string }
  servers: { url: string }[]
  components: { schemas: Record<string, unknown> }
  paths: Record<string, Record<string, Operation>>
}

test('the interface describes itself as OpenAPI 3.1', async (t) => {
  const app = await openApp(t)
  const response = await app.inject('/api/openapi.json')
  assert.match(String(response.headers['content-type']), /^application\/json/)
  const document = response.json<Document>()
  assert.equal(document.openapi, '3.1.0')
  assert.deepEqual([document.info.title, document.info.version], ['Tagwarden', '1.2.3'])
  assert.deepEqual(document.servers, [{ url: 'http://tagwarden.example' }])
  assert.deepEqual(Object.keys(document.components.schemas), ['Error', 'Session'])
  const put = document.paths['/api/things/{thing_id}']?.put
  assert.deepEqual(
    put?.parameters?.map(({ name, in: place }) => `${place} ${name}`),
    ['query count', 'query flag', 'path thing_id'],
  )
  assert.deepEqual(put?.responses['404']?.content?.['application/json']?.schema, { $ref: '#/components/schemas/Error' })
})

test('every route says what it is for and what it can answer', async (t) => {
  const app = await openApp(t)
  const { paths } = (await app.inject('/api/openapi.json')).json<Document>()
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ name: `${method} ${path}`, operation })),
  )
  assert.ok(operations.length >= 8)
  for (const { name, operation } of operations) {
    assert.ok(operation.summary, name)
    assert.ok(operation.description, name)
    assert.equal(operation.tags?.length, 1, name)
    assert.ok(
      Object.keys(operation.responses).some((status) => status.startsWith('2')),
      name,
    )
  }
})

test('a record with a title is described once, where two schemas of one title are a fault', () => {
  const record = (title: string, type: unknown = 'object') => ({
    type,
    title,
    properties: { title: { type: 'string' } },
  })
  const { answer, components } = completed<Record<string, unknown>>({
    answer: {
      one: { ...record('Thing'), description: 'The first' },
      some: { type: 'array', items: record('Thing') },
      none: record('Thing', ['object', 'null']),
      other: { type: 'object', title: 'Other thing', properties: { inner: record('Thing') } },
    },
  })
  const reference = { $ref: '#/components/schemas/Thing' }
  assert.deepEqual(answer, {
    one: { ...reference, description: 'The first' },
    some: { type: 'array', items: reference },
    none: { anyOf: [reference, { type: 'null' }] },
    other: { $ref: '#/components/schemas/OtherThing' },
  })
  assert.deepEqual(components, {
    schemas: {
      OtherThing: { type: 'object', properties: { inner: reference } },
      Thing: { type: 'object', properties: { title: { type: 'string' } } },
    },
  })
  assert.throws(
    () => completed({ one: record('Thing'), two: { ...record('Thing'), required: ['title'] } }),
    /two records have the name Thing/,
  )
})

test('the documentation pages load everything from this service', async (t) => {
  const app = await openApp(t)
  const page = await app.inject('/api/docs')
  assert.equal(page.statusCode, 200)
  assert.match(String(page.headers['content-security-policy']), /^default-src 'self'/)
  for (const [, path = ''] of page.body.matchAll(/(?:src|href)="([^"]+)"/g)) {
    assert.equal((await app.inject(path)).statusCode, 200, path)
  }
  assert.equal((await app.inject('/api/docs/json')).json<Document>().openapi, '3.1.0')
})
