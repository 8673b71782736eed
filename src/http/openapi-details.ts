import { isDeepStrictEqual } from 'node:util'
import { needsNoBody } from './validation.ts'

/** The parts of the generated document that are completed here. */
interface ApiDocument {
  paths?: Paths
  components?: { schemas?: Record<string, object> }
}
type Paths = Record<string, Record<string, Operation>>
interface Operation {
  operationId?: string
  parameters?: { in: string; name: string }[]
  requestBody?: { required?: boolean; content: Record<string, { schema?: object }> }
  responses: Record<string, { description: string; headers?: Record<string, object> }>
}

const text = (description: string) => ({ description, schema: { type: 'string' } })
const HEADERS = {
  etag: text('Version of the answer; `If-None-Match` with it gets 304 while it is the same'),
  link: text('`<address>; rel="next"`: the next page; absent on the last one'),
  replayed: text('`true`: the first answer again, to a repeated request'),
  retryAfter: { description: 'Seconds to wait before another try, if known', schema: { type: 'integer' } },
}

/** What the plugin calls an answer whose schema has no description. */
const UNNAMED = 'Default Response'
const NAMES: Readonly<Record<string, string>> = { 200: 'Done', 201: 'Created', 202: 'Accepted' }

/** Adds what follows from the rest of a document, and what generators of clients need; returns the same document. */
export function completed<T extends object>(document: T): T {
  const { paths = {} } = document as ApiDocument
  for (const [path, methods] of Object.entries(paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      operation.operationId = operationId(method, path, paths)
      settleBody(operation)
      describeAnswers(method, operation)
    }
  }
  settleTypes(document)
  const models = new Map<string, object>()
  const { components, ...rest } = withReferences<ApiDocument>(document, models)
  const schemas = { ...components?.schemas, ...Object.fromEntries([...models].sort(([a], [b]) => (a < b ? -1 : 1))) }
  return { ...rest, components: { ...components, schemas } } as T
}

/** The plugin marks every body as required; one without required fields may be left out. */
function settleBody({ requestBody }: Operation): void {
  if (requestBody === undefined) return
  requestBody.required = !Object.values(requestBody.content).every(({ schema = {} }) => needsNoBody(schema))
}

/**
 * The method and the fixed parts of the path, as in `patchClientChannel`; a part with an id behind it is called like the id. A rule
 * and no list, so that no name can be forgotten.
 */
function operationId(method: string, path: string, paths: Paths): string {
  const short = path.replace(/^\/api(?=\/)/, '')
  // `/ingest` has two addresses.
  const parts = (short in paths ? path : short).split('/').slice(1)
  const words = parts.flatMap((part, at) => {
    const [, id] = /^\{(\w+)_id\}$/.exec(parts[at + 1] ?? '') ?? []
    if (id !== undefined) return part.startsWith('{') ? [] : id
    if (!part.startsWith('{')) return parts[at + 1]?.startsWith('{') ? part.replace(/(?<![su])s$/, '') : part
    // A secret or a name behind another one is the only word for what it is.
    return parts[at - 1]?.startsWith('{') ? part : []
  })
  return `${method} ${words.join(' ')}`
    .replace(/\W+|_/g, ' ')
    .trim()
    .replace(/ (\w)/g, (_, letter: string) => letter.toUpperCase())
}

function describeAnswers(method: string, { parameters = [], responses }: Operation): void {
  const has = (place: string, name: string) => parameters.some((each) => each.in === place && each.name === name)
  for (const [status, response] of Object.entries(responses)) {
    if (response.description === UNNAMED) {
      response.description = (method === 'get' ? undefined : NAMES[status]) ?? 'The answer'
    }
    const isGood = status.startsWith('2')
    const headers = {
      ...(isGood && '304' in responses && { ETag: HEADERS.etag }),
      ...(isGood && (has('query', 'before') || has('query', 'after')) && { Link: HEADERS.link }),
      ...(isGood &&
        has('header', 'idempotency-key') &&
        '422' in responses && { 'Idempotent-Replayed': HEADERS.replayed }),
      ...(['429', '503'].includes(status) && { 'Retry-After': HEADERS.retryAfter }),
    }
    if (Object.keys(headers).length > 0) response.headers = { ...headers, ...response.headers }
  }
}

/** Largest number of 32 bits. */
const INT32_MAX = 2_147_483_647

/** Classes of Unicode in a pattern. */
const UNICODE_CLASS = /\\p\{/i

/**
 * Says the type of lists of texts, and that numbers may be larger than 32 bits: generated code would have values of any type, and
 * numbers that overflow. Leaves out patterns that Python cannot compile, where generated code fails on every such value, even in
 * answers: `x-expects` says in words what they allow.
 */
function settleTypes(value: unknown): void {
  if (typeof value !== 'object' || value === null) return
  const schema = value as { type?: unknown; enum?: unknown; maximum?: unknown; format?: unknown; pattern?: unknown }
  if (
    schema.type === undefined &&
    Array.isArray(schema.enum) &&
    schema.enum.every((each) => typeof each === 'string')
  ) {
    schema.type = 'string'
  }
  const isInteger = schema.type === 'integer' || (Array.isArray(schema.type) && schema.type.includes('integer'))
  if (isInteger && !(Number(schema.maximum) <= INT32_MAX)) schema.format ??= 'int64'
  if (typeof schema.pattern === 'string' && UNICODE_CLASS.test(schema.pattern)) delete schema.pattern
  for (const inner of Object.values(value)) settleTypes(inner)
}

/** A value in which each record with a title is a reference to `models`, where it is added: generators make one type of each. */
function withReferences<T>(value: T, models: Map<string, object>): T {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((each) => withReferences(each, models)) as T
  const entries = Object.entries(value).map(([key, inner]) => [key, withReferences(inner, models)] as const)
  const schema: Record<string, unknown> = Object.fromEntries(entries)
  const { title, type, description, ...rest } = schema
  const types = [type].flat()
  if (typeof title !== 'string' || !types.includes('object') || !('properties' in schema)) return schema as T

  // "Per-event payload" is PerEventPayload.
  const name = title.replace(/\W(\w)/g, (_, letter: string) => letter.toUpperCase())
  const model = { type: 'object', ...rest }
  if (!isDeepStrictEqual(models.get(name) ?? model, model)) throw new Error(`two records have the name ${name}`)
  models.set(name, model)
  const reference = { $ref: `#/components/schemas/${name}` }
  const said = description === undefined ? {} : { description }
  return (types.includes('null') ? { anyOf: [reference, { type: 'null' }], ...said } : { ...reference, ...said }) as T
}
