import type { ProbeTypeRecord } from '../../api/probes.ts'

/** What can stand in a setting's field. `''`: nothing. */
export type FieldValue = string | number | boolean | string[]

/** One setting of a probe type, as its field is drawn. */
export type Field = {
  name: string
  label: string
  /** "ms", "min": is in the field. */
  unit: string | null
  description: string
  isRequired: boolean
  /** As it is without being set; null where there is none. */
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

/** The settings of a type from its JSON schema, in its order. */
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

/** A value of the configuration as it is in a field; null for what no field can hold. */
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
  // As the hosts are called: "Hosting A token".
  a: 'A',
  b: 'B',
  z: 'z',
}

/** "Executions at least" */
const BOUNDS: Readonly<Record<string, string>> = { min: 'at least', max: 'at most' }

/** Of what no one calls by its key. */
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

/** What fields begin with: the probe's settings, or the defaults. */
export function initialConfig(
  fields: readonly Field[],
  config: Readonly<Record<string, unknown>>,
): Record<string, FieldValue> {
  return Object.fromEntries(fields.map((field) => [field.name, fieldValue(config[field.name]) ?? emptyOf(field)]))
}

const emptyOf = (field: Field): FieldValue => field.fallback ?? (field.kind === 'list' ? [] : '')

type ConfigValue = string | number | boolean | (string | number)[] | null

/**
 * The settings as the interface takes them: null for what is left at its default, so that it follows the program's.
 *
 * @param removed secrets that are to be taken away; one that is left empty stays
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

const sentValue = (field: Field, value: FieldValue): ConfigValue =>
  field.kind === 'list' && field.of === 'number' && Array.isArray(value) ? value.map(numberIn) : value

export const isDefault = (field: Field, value: FieldValue): boolean =>
  value === '' || JSON.stringify(value) === JSON.stringify(emptyOf(field))

/** What is no number is sent as it is, so that the service says so at its field. */
const numberIn = (text: string): string | number => (Number.isNaN(Number(text)) ? text : Number(text))
