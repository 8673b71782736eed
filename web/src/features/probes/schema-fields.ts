import type { ProbeTypeRecord } from '../../api/probes.ts'

/** The value of a setting's field; `''` when empty. */
export type FieldValue = string | number | boolean | string[]

/** The field of one setting of a probe type. */
export type Field = {
  name: string
  label: string
  /** "ms", "min": shown inside the field. */
  unit: string | null
  description: string
  isRequired: boolean
  /** The default; null without one. */
  fallback: FieldValue | null
} & (
  | { kind: 'number'; isInteger: boolean; min: number | undefined; max: number | undefined; step: number | undefined }
  | { kind: 'text'; maxLength: number | undefined }
  | { kind: 'secret' }
  | { kind: 'switch' }
  | { kind: 'choice'; options: string[] }
  | { kind: 'list'; of: 'text' | 'number'; maxItems: number | undefined }
)

interface Schema {
  type?: string | string[]
  enum?: unknown[]
  items?: { type?: string }
  default?: unknown
  description?: string
  writeOnly?: boolean
  minimum?: number
  maximum?: number
  multipleOf?: number
  maxLength?: number
  maxItems?: number
}

/** The fields of a type's settings, from its JSON schema and in its order. */
export function fieldsOf({ config_schema }: Pick<ProbeTypeRecord, 'config_schema'>): Field[] {
  const { properties = {}, required = [] } = config_schema as {
    properties?: Record<string, Schema>
    required?: string[]
  }
  return Object.entries(properties).map(([name, schema]) => fieldOf(name, schema, required.includes(name)))
}

function fieldOf(name: string, schema: Schema, isRequired: boolean): Field {
  const { label, unit } = wordsOf(name)
  const base = {
    name,
    label,
    unit,
    description: schema.description ?? '',
    isRequired,
    fallback: fieldValue(schema.default),
  }
  const type = [schema.type].flat().find((each) => each !== 'null')
  if (schema.enum !== undefined) {
    return { ...base, kind: 'choice', options: schema.enum.filter((option) => typeof option === 'string') }
  }
  switch (type) {
    case 'integer':
    case 'number':
      return {
        ...base,
        kind: 'number',
        isInteger: type === 'integer',
        min: schema.minimum,
        max: schema.maximum,
        step: schema.multipleOf,
      }
    case 'boolean':
      return { ...base, kind: 'switch' }
    case 'array':
      return {
        ...base,
        kind: 'list',
        of: schema.items?.type === 'string' ? 'text' : 'number',
        maxItems: schema.maxItems,
      }
    default:
      return schema.writeOnly === true
        ? { ...base, kind: 'secret', fallback: null }
        : { ...base, kind: 'text', maxLength: schema.maxLength }
  }
}

/** A configured value as a field's value; null when no field can hold it. */
export function fieldValue(value: unknown): FieldValue | null {
  if (Array.isArray(value)) return value.map(String)
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? value : null
}

const UNITS: Readonly<Record<string, string>> = {
  ms: 'ms',
  minutes: 'min',
  hours: 'h',
  days: 'days',
  percent: '%',
  mb: 'MB',
}
const SPELLINGS: Readonly<Record<string, string>> = {
  dns: 'DNS',
  gtm: 'GTM',
  json: 'JSON',
  js: 'JS',
  ok: 'OK',
  id: 'ID',
  url: 'URL',
  // The names of the hosting providers: "Hosting A token".
  a: 'A',
  b: 'B',
  z: 'z',
}

/** "Executions at least" */
const BOUNDS: Readonly<Record<string, string>> = { min: 'at least', max: 'at most' }

/** Labels of settings whose key makes no good label. */
const LABELS: Readonly<Record<string, string>> = {
  change_ttl_hours: 'A new version warns for',
  lost_min_rate: 'Usual rate at least',
  warning_z: 'Deviation that warns',
}

/** `certificate_warning_days` is "Certificate warning" with the unit "days". */
function wordsOf(name: string): { label: string; unit: string | null } {
  const parts = name.split('_')
  const unit = parts.length > 1 ? (UNITS[parts.at(-1) ?? ''] ?? null) : null
  const named = unit === null ? parts : parts.slice(0, -1)
  const bound = BOUNDS[named[0] ?? '']
  const words = (bound === undefined ? named : [...named.slice(1), bound])
    .map((part) => SPELLINGS[part] ?? part)
    .join(' ')
  return { label: LABELS[name] ?? words.slice(0, 1).toUpperCase() + words.slice(1), unit }
}

/** The initial values of the fields: the probe's settings, or the defaults. */
export function initialConfig(
  fields: readonly Field[],
  config: Readonly<Record<string, unknown>>,
): Record<string, FieldValue> {
  return Object.fromEntries(fields.map((field) => [field.name, fieldValue(config[field.name]) ?? emptyOf(field)]))
}

const emptyOf = (field: Field): FieldValue => field.fallback ?? (field.kind === 'list' ? [] : '')

type ConfigValue = string | number | boolean | (string | number)[] | null

/**
 * The settings in the form of the API: null for values at their default, so that they follow later defaults.
 *
 * @param removed secrets to remove; one left empty stays
 */
export function configOf(
  fields: readonly Field[],
  values: Readonly<Record<string, FieldValue>>,
  removed: readonly string[],
): Record<string, ConfigValue> {
  const config: Record<string, ConfigValue> = {}
  for (const field of fields) {
    const value = values[field.name] ?? ''
    const isKept = field.kind === 'secret' && value === '' && !removed.includes(field.name)
    if (!isKept) config[field.name] = isDefault(field, value) ? null : sentValue(field, value)
  }
  return config
}

function sentValue(field: Field, value: FieldValue): ConfigValue {
  // A text while it is typed: "0.10".
  if (field.kind === 'number' && typeof value === 'string') return numberIn(value)
  return field.kind === 'list' && field.of === 'number' && Array.isArray(value) ? value.map(numberIn) : value
}

export const isDefault = (field: Field, value: FieldValue): boolean =>
  value === '' || JSON.stringify(value) === JSON.stringify(emptyOf(field))

/** A text that is not a number is sent unchanged, so that the service reports the fault at its field. */
const numberIn = (text: string): string | number => (Number.isNaN(Number(text)) ? text : Number(text))
