import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { test } from 'node:test'
import { Ajv2020, type ErrorObject } from 'ajv/dist/2020.js'
import { contractSchema } from '../../scripts/contract-schema.ts'
import { TestClock } from '../../testkit/clock.ts'
import { startTestService } from '../../testkit/service.ts'

interface Example {
  about: string
  payload: Record<string, unknown>
  /** JSON pointer to what is wrong; absent when nothing is. */
  refused_at?: string
  /** The schema cannot say it: only the service refuses. */
  beyond_schema?: true
}

interface PayloadSchema {
  properties?: Record<string, PayloadSchema>
  items?: PayloadSchema
  additionalProperties?: PayloadSchema
}

const CONTRACT = join(import.meta.dirname, '../../contract')
const committed = readFileSync(join(CONTRACT, 'ingest.schema.json'), 'utf8')
const schema = JSON.parse(committed) as { $defs: Record<'event' | 'batch', PayloadSchema> }
const examples = new Map(
  readdirSync(join(CONTRACT, 'examples')).map((file) => [
    basename(file, '.json'),
    JSON.parse(readFileSync(join(CONTRACT, 'examples', file), 'utf8')) as Example,
  ]),
)

const ajv = new Ajv2020({ allowUnionTypes: true })
ajv.addSchema(schema, 'contract')
const checkEither = ajv.compile({ $ref: 'contract' })
const check = {
  event: ajv.compile({ $ref: 'contract#/$defs/event' }),
  batch: ajv.compile({ $ref: 'contract#/$defs/batch' }),
}
const kindOf = (payload: Example['payload']) => (payload.batch === true ? 'batch' : 'event')

function pathOf({ keyword, instancePath, params }: ErrorObject): string {
  return keyword === 'required' ? `${instancePath}/${params.missingProperty}` : instancePath
}

/** Where the schema finds fault, or undefined. */
function schemaPath({ payload }: Example): string | undefined {
  const validate = check[kindOf(payload)]
  const isValid = validate(payload)
  assert.equal(checkEither(payload), isValid)
  const [error] = validate.errors ?? []
  return error === undefined ? undefined : pathOf(error)
}

test('contract/ingest.schema.json is the schema that the service checks with', () => {
  assert.equal(committed, contractSchema())
})

for (const [name, example] of examples) {
  test(`the schema judges ${name} as the example says: ${example.about}`, () => {
    assert.equal(schemaPath(example), example.beyond_schema ? undefined : example.refused_at)
  })
}

test('the running service judges every example as it says', async (t) => {
  const api = await startTestService(t, new TestClock('2026-10-25T10:00:00Z'))
  const client = await api.newClient()
  for (const [name, { payload, refused_at }] of examples) {
    await t.test(name, async () => {
      const site = await api.newSite(client)
      const answer = await api.ingest(site, payload)
      await api.service.ingest.flush()
      const recent = await api.call('GET', `/api/monitoring/sites/${site.id}/recent`)
      const { accepted, rejections } = recent.json<{ accepted: unknown[]; rejections: { path: string }[] }>()
      assert.deepEqual(
        { status: answer.status, body: answer.json(), accepted: accepted.length, refused: rejections[0]?.path },
        refused_at === undefined
          ? { status: 200, body: { status: 'ok' }, accepted: 1, refused: undefined }
          : { status: 400, body: { error: 'invalid_payload' }, accepted: 0, refused: refused_at },
      )
    })
  }
})

test('the examples that are accepted show every field of both payloads', () => {
  const shown = { event: new Set<string>(), batch: new Set<string>() }
  for (const { payload, refused_at } of examples.values()) {
    if (refused_at === undefined) collectFields(payload, schema.$defs[kindOf(payload)], '', shown[kindOf(payload)])
  }
  for (const kind of ['event', 'batch'] as const) {
    assert.deepEqual([...shown[kind]].sort(), [...fieldsOf(schema.$defs[kind], '')].sort())
  }
})

test('the examples that are refused show faults of both payloads, within and beyond the schema', () => {
  const refused = [...examples.values()].filter(({ refused_at }) => refused_at !== undefined)
  assert.ok(refused.filter(({ payload }) => kindOf(payload) === 'event').length >= 8)
  assert.ok(refused.filter(({ payload }) => kindOf(payload) === 'batch').length >= 6)
  assert.ok(refused.some(({ beyond_schema }) => beyond_schema))
})

/** Every field that a schema knows; `*` stands for an item of a list and for a name of the sender's own making. */
function fieldsOf(part: PayloadSchema, path: string): string[] {
  const own = Object.entries(part.properties ?? {}).flatMap(([name, field]) => [
    `${path}/${name}`,
    ...fieldsOf(field, `${path}/${name}`),
  ])
  return [
    ...own,
    ...[part.items, part.additionalProperties].flatMap((each) => (each ? fieldsOf(each, `${path}/*`) : [])),
  ]
}

/** Adds the fields of a payload that its schema knows. */
function collectFields(value: unknown, part: PayloadSchema, path: string, into: Set<string>): void {
  if (typeof value !== 'object' || value === null) return
  for (const [name, field] of Object.entries(value)) {
    const known = Object.entries(part.properties ?? {}).find(([property]) => property === name)?.[1]
    if (known !== undefined) into.add(`${path}/${name}`)
    const next = known ?? part.items ?? part.additionalProperties
    if (next !== undefined) collectFields(field, next, known === undefined ? `${path}/*` : `${path}/${name}`, into)
  }
}
