import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import { FORMATS } from '../../src/http/formats.ts'
import type { Answer, ApiClient } from '../../testkit/api.ts'

interface Described {
  paths: Record<string, Record<string, { responses: Record<string, { content?: Record<string, { schema: object }> }> }>>
  components: Components
}

interface Components {
  schemas: Record<string, object>
}

/** Every time of an answer is in UTC and has milliseconds, so that programs may compare texts. */
const UTC_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

/**
 * Returns a check that says how the answer to a call (`GET /api/clients`) differs from what the service's own description says of
 * it, or null. A field that is not described differs too.
 */
export async function describedBy(
  api: Pick<ApiClient, 'call'>,
): Promise<(name: string, answer: Answer) => string | null> {
  const { paths, components } = (await api.call('GET', '/api/openapi.json')).json<Described>()
  const ajv = new Ajv2020({ strict: false })
  for (const [name, { test }] of Object.entries(FORMATS)) ajv.addFormat(name, test)
  ajv.addFormat('date-time', UTC_TIME)
  ajv.addFormat('int64', { type: 'number', validate: Number.isSafeInteger })
  const compiled = new Map<object, ValidateFunction>()
  return (name, { status, headers, text, json }) => {
    const [method = '', path = ''] = name.split(' ')
    const described = paths[path]?.[method.toLowerCase()]?.responses[status]
    if (described === undefined) return `${status} is not described`
    if (described.content === undefined) return text === '' ? null : 'has a body where none is described'
    const [type = ''] = (headers.get('content-type') ?? '').split(';')
    // Pictures are described as `image/*`.
    const schema = (described.content[type] ?? described.content[type.replace(/\/.*/, '/*')])?.schema
    if (schema === undefined) return `${type} is not described`
    if (type !== 'application/json') return null
    const check = compiled.get(schema) ?? ajv.compile(closed(withModels(schema, components)))
    compiled.set(schema, check)
    return check(json()) ? null : ajv.errorsText(check.errors)
  }
}

/** The schema and those models that it refers to: with all of them, each of hundreds of compilations would read them. */
export function withModels(schema: object, { schemas }: Components): object {
  const used: Record<string, object> = {}
  const collect = (value: object): void => {
    for (const [, name = ''] of JSON.stringify(value).matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g)) {
      const model = schemas[name]
      if (name in used || model === undefined) continue
      used[name] = model
      collect(model)
    }
  }
  collect(schema)
  return { ...schema, components: { schemas: used } }
}

/** The schema, with no other fields than those that it names. */
function closed<T>(schema: T): T {
  if (typeof schema !== 'object' || schema === null) return schema
  if (Array.isArray(schema)) return schema.map(closed) as T
  const inner = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, closed(value)]))
  const isOpen = 'type' in inner && 'properties' in inner && inner.additionalProperties === undefined
  return (isOpen ? { ...inner, additionalProperties: false } : inner) as T
}
