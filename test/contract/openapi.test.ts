import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { SerializerSelector } from '@fastify/fast-json-stringify-compiler'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { pino } from 'pino'
import { buildApp } from '../../src/app.ts'
import { readConfig } from '../../src/config.ts'
import { EXPECTS, type HttpApp } from '../../src/http/index.ts'
import { ONE_LINE } from '../../src/management/index.ts'
import { PROBE_TYPES } from '../../src/probes/registry.ts'
import { TestClock } from '../../testkit/clock.ts'
import { slowTextFor } from '../../testkit/patterns.ts'
import { startTestService } from '../../testkit/service.ts'
import { PROBE_SURROUNDINGS } from '../probes/support.ts'
import { withModels } from './described.ts'

interface Content {
  content?: Record<string, { schema: object }>
}
interface Operation {
  operationId?: string
  tags?: string[]
  summary?: string
  parameters?: { name: string; in: string; description?: string; required?: boolean; schema: object }[]
  requestBody?: Content
  responses: Record<string, { description: string; headers?: Record<string, object> } & Content>
  security?: Record<string, string[]>[]
}
interface Document {
  openapi: string
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, object>; securitySchemes: Record<string, object> }
  security: Record<string, string[]>[]
}

/** Routes that answer programs or browsers and are no part of the interface. */
const UNDESCRIBED = [/^GET \*$/, /^(GET|DELETE) \/mcp$/, /^\S+ \/metrics$/, /^\S+ \/api\/docs(\/|$)/]

/** The whole program's app over a running service, not listening. */
async function openApp(t: TestContext, environment: Record<string, string> = {}): Promise<HttpApp> {
  const clock = new TestClock('2026-11-20T10:00:00Z')
  const { service } = await startTestService(t, clock, environment)
  const app = await buildApp({
    config: readConfig(environment),
    store: service.store,
    membership: service.membership,
    leases: service.leases,
    ingest: service.ingest,
    worker: service.worker,
    loops: [],
    outbound: PROBE_SURROUNDINGS.outbound,
    clock,
    log: pino({ level: 'silent' }),
    mailer: null,
    publicUrl: () => 'http://127.0.0.1',
    clockDoubt: () => null,
    isStopping: () => false,
    onError: () => undefined,
  })
  t.after(() => app.close())
  await app.ready()
  return app
}

async function documentOf(app: HttpApp): Promise<Document> {
  return (await app.inject('/api/openapi.json')).json<Document>()
}

const operationsOf = ({ paths }: Document) =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      name: `${method.toUpperCase()} ${path}`,
      path,
      operation,
    })),
  )

/** The routes of an app as `GET /a/{b}`, from the tree that Fastify prints; each level of it is four characters deep. */
function routesOf(app: HttpApp): string[] {
  const parents: string[] = []
  return app
    .printRoutes({ commonPrefix: false })
    .split('\n')
    .flatMap((line) => {
      const [, indent, path, methods] = /^([│ ]*)[├└]── (\S+) \((.+)\)$/.exec(line) ?? []
      if (indent === undefined || path === undefined || methods === undefined) return []
      const depth = indent.length / 4
      const full = (parents[depth - 1] ?? '') + path
      parents.splice(depth, Number.POSITIVE_INFINITY, full)
      return methods.split(', ').map((method) => `${method} ${full.replace(/:(\w+)/g, '{$1}')}`)
    })
}

/** Every object in a JSON value, the value included. */
function* objectsIn(value: unknown): Generator<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) return
  if (!Array.isArray(value)) yield value as Record<string, unknown>
  for (const part of Object.values(value)) yield* objectsIn(part)
}

test('the description lists the routes that exist, and no others', async (t) => {
  const app = await openApp(t)
  const described = operationsOf(await documentOf(app)).map(({ name }) => name)
  // HEAD comes with every GET and is not described.
  const existing = routesOf(app).filter(
    (route) => !route.startsWith('HEAD ') && !UNDESCRIBED.some((pattern) => pattern.test(route)),
  )
  assert.ok(existing.includes('GET /api/dashboard/overview'))
  assert.ok(existing.includes('POST /api/sites/{site_id}/revoke-key'))
  assert.deepEqual(described.sort(), existing.sort())
})

test('every operation says what it is for, under one heading, and describes each of its answers', async (t) => {
  for (const { name, operation } of operationsOf(await documentOf(await openApp(t)))) {
    assert.ok(operation.summary, name)
    assert.equal(operation.tags?.length, 1, name)
    const statuses = Object.keys(operation.responses)
    assert.ok(
      // What is for browsers leads on to a page.
      statuses.some((status) => status.startsWith('2') || status === '302'),
      name,
    )
    for (const [status, { description, content }] of Object.entries(operation.responses)) {
      assert.ok(description, `${name} ${status}`)
      assert.notEqual(description, 'Default Response', `${name} ${status}`)
      if (['204', '302', '304'].includes(status) || `${name} ${status}` === 'POST /mcp 202') {
        assert.equal(content, undefined, `${name} ${status}`)
      } else {
        const schemas = Object.values(content ?? {}).map(({ schema }) => schema)
        assert.ok(schemas.length > 0 && schemas.every(Boolean), `${name} ${status}`)
      }
    }
  }
})

test('a generated client has a name for every call, types for its values, and the headers that it reads', async (t) => {
  const document = await documentOf(await openApp(t))
  const operations = operationsOf(document)
  const names = new Map(operations.map(({ name, operation }) => [name, operation.operationId ?? '']))
  for (const [name, id] of names) assert.match(id, /^(get|post|put|patch|delete)([A-Z][a-z]+)+$/, name)
  assert.equal(new Set(names.values()).size, names.size)
  const expected = {
    'GET /api/clients': 'getClients',
    'GET /api/clients/{client_id}': 'getClient',
    'PATCH /api/clients/{client_id}/channels/{channel_id}': 'patchClientChannel',
    'POST /api/deliveries/{delivery_id}/retry': 'postDeliveryRetry',
    'POST /api/sites/{site_id}/tag-vendors/{tag_key}': 'postSiteTagVendor',
    'GET /api/status/{token}': 'getStatus',
    'GET /badge/{site_id}.svg': 'getBadge',
    'GET /push/{token}/{signal}': 'getPushSignal',
    'POST /ingest': 'postIngest',
    'POST /api/ingest': 'postApiIngest',
  }
  for (const [name, id] of Object.entries(expected)) assert.equal(names.get(name), id)

  for (const schema of objectsIn(document)) {
    if (Array.isArray(schema.enum)) assert.ok(schema.type, JSON.stringify(schema))
    const isSmall = Number(schema.maximum) < 2 ** 31
    const isInteger = [schema.type].flat().includes('integer')
    if (isInteger) assert.equal(schema.format, isSmall ? undefined : 'int64', JSON.stringify(schema))
  }

  const headers = operations.flatMap(({ name, operation }) =>
    Object.entries(operation.responses).flatMap(([status, answer]) =>
      Object.keys(answer.headers ?? {}).map((header) => `${header} of ${name} ${status}`),
    ),
  )
  for (const header of [
    'ETag of GET /api/dashboard/overview 200',
    'Link of GET /api/alerts 200',
    'Idempotent-Replayed of POST /api/clients 201',
    'Retry-After of GET /api/clients 429',
  ]) {
    assert.ok(headers.includes(header), header)
  }
})

test('a generated client has one model for each record, whichever calls answer with it', async (t) => {
  const document = await documentOf(await openApp(t))
  const { schemas } = document.components
  const schemaOf = (path: string, method: string, status: string) =>
    document.paths[path]?.[method]?.responses[status]?.content?.['application/json']?.schema
  const reference = (name: string) => ({ $ref: `#/components/schemas/${name}` })
  for (const [path, name] of Object.entries({
    '/api/clients': 'Client',
    '/api/sites': 'Site',
    '/api/probes': 'Probe',
    '/api/silences': 'Silence',
    '/api/maintenance': 'Maintenance',
    '/api/annotations': 'Annotation',
    '/api/views': 'SavedView',
    '/api/clients/{client_id}/channels': 'Channel',
    '/api/sites/{site_id}/keys': 'SiteKey',
  })) {
    const list = schemaOf(path, 'get', '200') as { items?: object }
    assert.deepEqual(list.items, reference(name), path)
    assert.deepEqual(schemaOf(path, 'post', '201'), reference(name), path)
  }
  assert.deepEqual(schemaOf('/api/clients/{client_id}', 'patch', '200'), reference('Client'))
  for (const name of ['Alert', 'Incident', 'Delivery', 'User', 'Impact']) assert.ok(name in schemas, name)

  // A record that two calls have, or two places of an answer, is one of them: 3 fields are a detail that may be written out.
  const places = new Map<string, number>()
  for (const schema of objectsIn({ ...document, servers: undefined })) {
    const { type, properties } = schema
    if (![type].flat().includes('object') || Object.keys(properties ?? {}).length <= 3) continue
    const text = JSON.stringify(schema)
    places.set(text, (places.get(text) ?? 0) + 1)
  }
  assert.ok(places.size > 100)
  assert.deepEqual(
    [...places].filter(([, count]) => count > 1).map(([text]) => text),
    [],
  )
})

test('every parameter in a path is declared and every declared one is in it, and each of a query says what it does', async (t) => {
  for (const { name, path, operation } of operationsOf(await documentOf(await openApp(t)))) {
    const parameters = operation.parameters ?? []
    const inPath = parameters.filter((parameter) => parameter.in === 'path')
    const placeholders = [...path.matchAll(/\{(\w+)\}/g)].map(([, placeholder]) => placeholder)
    assert.deepEqual(inPath.map((parameter) => parameter.name).sort(), placeholders.sort(), name)
    assert.ok(
      inPath.every((parameter) => parameter.required === true),
      name,
    )
    // The name of an id in a path says it all.
    const wordless = parameters.filter((each) => each.in === 'query' && each.description === undefined)
    assert.deepEqual(wordless, [], name)
    assert.equal(new Set(parameters.map((each) => `${each.in} ${each.name}`)).size, parameters.length, name)
    // An id of nothing, and one that is malformed, are not found. Whether a secret of an address is known, a call for jobs says, too.
    assert.ok(inPath.length === 0 || '404' in operation.responses, `${name} does not describe its 404`)
  }
})

test('every reference resolves, and every schema is valid JSON Schema', async (t) => {
  const document = await documentOf(await openApp(t))
  const references = [...objectsIn(document)].flatMap(({ $ref }) => ($ref === undefined ? [] : [$ref]))
  assert.ok(references.length > 0)
  for (const reference of references) {
    const [, name] = /^#\/components\/schemas\/(\w+)$/.exec(String(reference)) ?? []
    assert.ok(name !== undefined && name in document.components.schemas, String(reference))
  }
  const ajv = new Ajv2020({ strict: false, validateFormats: false })
  const seen = new Set<string>()
  for (const { name, operation } of operationsOf(document)) {
    const contents = [operation.requestBody, ...Object.values(operation.responses)].flatMap((each) =>
      Object.values(each?.content ?? {}),
    )
    for (const { schema } of [...contents, ...(operation.parameters ?? [])]) {
      const text = JSON.stringify(schema)
      if (seen.has(text)) continue
      seen.add(text)
      assert.doesNotThrow(() => ajv.compile(withModels(schema, document.components)), name)
    }
  }
})

test('what needs a key is described as needing one, and nothing else is', async (t) => {
  const app = await openApp(t, { ADMIN_TOKEN: 'admin-token-0123456789' })
  const document = await documentOf(app)
  const schemes = Object.keys(document.components.securitySchemes)
  for (const { name, path, operation } of operationsOf(document)) {
    const needed = operation.security ?? document.security
    assert.ok(
      needed.flatMap(Object.keys).every((scheme) => schemes.includes(scheme)),
      name,
    )
    const [method = ''] = name.split(' ')
    if (path.endsWith('/ingest')) continue // has a key of its own, which its 401 is about
    const answer = await app.inject({ method: method as 'GET', url: path.replace(/\{\w+\}/g, 'x') })
    assert.equal(answer.statusCode === 401, needed.length > 0, `${name} answered ${answer.statusCode}`)
  }
})

test('a refusal says in words what a pattern allows: bodies, parameters and the settings of probes', async (t) => {
  const operations = operationsOf(await documentOf(await openApp(t))).map(({ name, operation }) => ({
    name,
    // What is wrong in a path is not found.
    schemas: [operation.requestBody, operation.parameters?.filter((parameter) => parameter.in !== 'path')],
  }))
  const settings = PROBE_TYPES.map(({ name, config }) => ({ name, schemas: [config] }))
  const patterns = [...operations, ...settings].flatMap(({ name, schemas }) =>
    [...objectsIn(schemas)].filter(({ pattern }) => typeof pattern === 'string').map((schema) => ({ name, schema })),
  )
  assert.ok(patterns.length > 40, `only ${patterns.length} were found`)
  const wordless = patterns.filter(({ schema }) => schema[EXPECTS] === undefined)
  assert.deepEqual(
    wordless.map(({ name, schema }) => `${name}: ${schema.pattern}`),
    [],
  )
})

/** Every `pattern` of a schema in the document, which the program makes a regular expression of. */
function patternsOf(value: unknown, found = new Set<string>()): Set<string> {
  if (typeof value !== 'object' || value === null) return found
  for (const [key, inner] of Object.entries(value)) {
    if (key === 'pattern' && typeof inner === 'string') found.add(inner)
    else patternsOf(inner, found)
  }
  return found
}

test('generated clients of other languages can compile every pattern', async (t) => {
  const patterns = patternsOf(await documentOf(await openApp(t)))
  // Python compiles no `\p{L}`, and its clients check answers as well.
  assert.deepEqual(
    [...patterns].filter((pattern) => /\\p\{/i.test(pattern)),
    [],
  )
})

test('every pattern of a schema takes time in proportion to the text that a caller sends', async (t) => {
  const patterns = patternsOf(await documentOf(await openApp(t))).add(ONE_LINE.pattern)
  assert.ok(patterns.size >= 6, `only ${patterns.size} were found`)
  for (const pattern of patterns) {
    const slow = slowTextFor({ place: 'schema', pattern: new RegExp(pattern, 'u') })
    assert.equal(slow, null, `${pattern}: ${slow}`)
  }
})

test('every answer of the document can be serialized: serializers are compiled with the first answer, not at the start', async (t) => {
  const document = await documentOf(await openApp(t))
  const compile = SerializerSelector()({}, {})
  const refusals = (schemas: readonly object[]) =>
    schemas.flatMap((schema) => {
      try {
        compile({ schema: withModels(schema, document.components) } as Parameters<typeof compile>[0])
        return []
      } catch (error) {
        return [`${JSON.stringify(schema)}: ${error}`]
      }
    })
  const answers = operationsOf(document).flatMap(({ operation }) =>
    Object.values(operation.responses).flatMap(({ content = {} }) =>
      Object.values(content).map(({ schema }) => schema),
    ),
  )
  const distinct = new Map(answers.map((schema) => [JSON.stringify(schema), schema]))
  assert.ok(distinct.size > 50)
  assert.deepEqual(refusals([...distinct.values()]), [])
  assert.equal(refusals([{ type: 'object', properties: { id: { $ref: '#/nowhere' } } }]).length, 1)
})
