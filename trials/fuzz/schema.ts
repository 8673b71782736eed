import type { Random } from '../../testkit/random.ts'

/** The part of JSON Schema that the OpenAPI document uses. */
export interface Schema {
  type?: string | string[]
  enum?: unknown[]
  const?: unknown
  format?: string
  pattern?: string
  minimum?: number
  maximum?: number
  maxLength?: number
  minItems?: number
  properties?: Record<string, Schema>
  required?: string[]
  additionalProperties?: boolean | Schema
  items?: Schema
  anyOf?: Schema[]
  oneOf?: Schema[]
}

const HOUR = 3_600_000
const OPTIONAL_SHARE = 0.4

const TEXT_OF_FORMAT: Readonly<Record<string, (random: Random) => string>> = {
  email: () => 'someone@mail.invalid',
  'http-url': () => 'http://127.0.0.1:9/',
  uuid: (random) => `00000000-0000-4000-8000-${String(random.below(1e12)).padStart(12, '0')}`,
  'time-zone': (random) => random.pick(['UTC', 'Asia/Kolkata', 'America/New_York', 'Australia/Lord_Howe']),
  'date-time': (random) => new Date(Date.now() + (random.below(400) - 200) * HOUR).toISOString(),
}

const PATTERN_TEXTS = ['GTM-ABC1234', 'G-ABCD123456', '123456789', '22:30', 'A'.repeat(43), 'some text']

/**
 * A value that fits the schema.
 *
 * @param known a value of the fixture for this name, where there is one
 */
export function sample(
  random: Random,
  schema: Schema,
  known: (name: string) => string | undefined,
  name = '',
): unknown {
  if (schema.const !== undefined) return schema.const
  if (schema.enum !== undefined) return random.anyOf(schema.enum) ?? null
  const branch = random.anyOf(schema.anyOf ?? schema.oneOf ?? [])
  if (branch !== undefined) return sample(random, branch, known, name)
  const type = Array.isArray(schema.type) ? random.anyOf(schema.type) : schema.type
  switch (type) {
    case 'null':
      return null
    case 'boolean':
      return random.chance(0.5)
    case 'integer':
    case 'number':
      return numberIn(random, schema)
    case 'array':
      return Array.from({ length: (schema.minItems ?? 0) + random.below(3) }, () =>
        sample(random, schema.items ?? {}, known, name),
      )
    case 'string':
      return known(name) ?? textFor(random, schema)
    default:
      return objectFor(random, schema, known)
  }
}

function numberIn(random: Random, { minimum = 0, maximum = Number.MAX_SAFE_INTEGER }: Schema): number {
  return random.pick([minimum, maximum, Math.min(maximum, minimum + random.below(1_000))])
}

function textFor(random: Random, { format, pattern, maxLength }: Schema): string {
  const formatted = TEXT_OF_FORMAT[format ?? '']?.(random)
  if (formatted !== undefined) return formatted
  if (pattern === undefined) return 'some text'.slice(0, maxLength)
  const expression = new RegExp(pattern)
  return PATTERN_TEXTS.find((text) => expression.test(text)) ?? 'some text'
}

function objectFor(random: Random, schema: Schema, known: (name: string) => string | undefined): object {
  const fields: Record<string, unknown> = {}
  for (const [name, field] of Object.entries(schema.properties ?? {})) {
    if (schema.required?.includes(name) || random.chance(OPTIONAL_SHARE))
      fields[name] = sample(random, field, known, name)
  }
  const { additionalProperties } = schema
  if (typeof additionalProperties === 'object') fields.name = sample(random, additionalProperties, known)
  return fields
}
