import type { Schema } from './schema.ts'

export interface Parameter {
  name: string
  in: string
  schema: Schema
}

/** One call of the interface, as its own description has it. */
export interface Operation {
  method: string
  /** With `{names}` of its parameters. */
  path: string
  parameters: Parameter[]
  body: Schema | null
}

interface Description {
  components: { schemas: Record<string, Schema> }
  paths: Record<
    string,
    Record<
      string,
      | { parameters?: Parameter[]; requestBody?: { content: Record<string, { schema: Schema } | undefined> } }
      | undefined
    >
  >
}

/** Open without being in the description: what browsers and Prometheus ask for. */
const MORE_PATHS = [
  '/metrics',
  '/',
  '/clients',
  '/api',
  '/api/docs/',
  '/api/docs/json',
  '/assets/x.js',
  '/static/x.svg',
  '/favicon.ico',
]

/** Every call that the running service describes, so that new ones are attacked without a word here. */
export async function readOperations(url: string): Promise<Operation[]> {
  const response = await fetch(`${url}/api/openapi.json`)
  const { paths, components } = (await response.json()) as Description
  const operations: Operation[] = MORE_PATHS.map((path) => ({ method: 'GET', path, parameters: [], body: null }))
  for (const [path, methods] of Object.entries(paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      if (operation === undefined) continue
      const body = resolved(operation.requestBody?.content['application/json']?.schema ?? null, components.schemas)
      operations.push({ method: method.toUpperCase(), path, parameters: operation.parameters ?? [], body })
    }
  }
  return operations
}

/** The value with each reference to a model replaced by the model. */
function resolved<T>(value: T, models: Readonly<Record<string, Schema>>): T {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((each) => resolved(each, models)) as T
  if ('$ref' in value) return resolved(models[String(value.$ref).split('/').at(-1) ?? ''], models) as T
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, resolved(inner, models)])) as T
}

const INGEST_PATHS: readonly string[] = ['/ingest', '/api/ingest']

/** Whether the tag's endpoint answers, whose errors have a shape of their own. */
export const isIngest = ({ path }: Operation): boolean => INGEST_PATHS.includes(path)
