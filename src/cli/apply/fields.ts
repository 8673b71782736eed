import { isObject, maskedIfAddress, printable } from '../../lib/index.ts'
import type { FieldChange } from './change.ts'
import type { Source } from './wanted.ts'

type Fields = Readonly<Record<string, unknown>>

/** Fields whose value alone gives access. */
const SECRETS = ['chat_webhook', 'secret', 'address']
/** Addresses whose queries may hold keys; settings of probes may be addresses, too. */
const ADDRESSES = ['url', 'tag_server_url']

const TIMES = ['starts_at', 'ends_at']

/** Names of the fields that would change; fields not given stay as they are. */
export const differing = (fields: Fields, present: Fields): string[] =>
  Object.keys(fields).filter((name) => !isSame(name, fields[name], present[name]))

/** Whether the API would store the wanted value as the present one. */
function isSame(name: string, wanted: unknown, present: unknown): boolean {
  if (TIMES.includes(name) && typeof wanted === 'string' && typeof present === 'string') {
    return Date.parse(wanted) === Date.parse(present)
  }
  if (name === 'weekdays' && Array.isArray(wanted)) {
    return canonical([...new Set(wanted)].sort()) === canonical(present)
  }
  return canonical(wanted ?? null) === canonical(present ?? null)
}

/** The value as JSON with sorted keys, for comparing. */
export function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`
  if (!isObject(value)) return JSON.stringify(value) ?? 'null'
  const fields = Object.keys(value).sort()
  return `{${fields.map((name) => `${JSON.stringify(name)}:${canonical(value[name])}`).join()}}`
}

/**
 * The change of a field as people see it: without secrets and values from the environment.
 *
 * @param source of the field
 * @param isSecret whether it is a secret; by default for the fields in `SECRETS`
 */
export function fieldChange(
  name: string,
  before: unknown,
  after: unknown,
  source: Source,
  isSecret = SECRETS.includes(name),
): FieldChange {
  const raw = source.rawText
  return {
    name,
    before: isSecret || raw !== null ? hidden(before) : shown(name, before),
    after: raw ?? (isSecret ? hidden(after) : shown(name, after)),
  }
}

const hidden = (value: unknown): string => (value === null || value === undefined ? 'not set' : '…')

function shown(name: string, value: unknown): string {
  if (value === null || value === undefined) return 'not set'
  if (typeof value !== 'string') return printable(JSON.stringify(value))
  return printable(ADDRESSES.includes(name) || name.startsWith('config.') ? maskedIfAddress(value) : value)
}
