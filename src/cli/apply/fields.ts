import { isObject, maskedQuery, printable } from '../../lib/index.ts'
import type { FieldChange } from './change.ts'
import type { Source } from './wanted.ts'

type Fields = Readonly<Record<string, unknown>>

/** What anyone who knows it can use. */
const SECRETS = ['chat_webhook', 'secret', 'address']
/** Addresses whose queries may hold keys. */
const ADDRESSES = ['url', 'tag_server_url']

const TIMES = ['starts_at', 'ends_at']

/** Names of the fields that would change: what is not given stays. */
export const differing = (fields: Fields, present: Fields): string[] =>
  Object.keys(fields).filter((name) => !isSame(name, fields[name], present[name]))

/** Whether the interface would store the one where it has the other. */
function isSame(name: string, wanted: unknown, present: unknown): boolean {
  if (TIMES.includes(name) && typeof wanted === 'string' && typeof present === 'string') {
    return Date.parse(wanted) === Date.parse(present)
  }
  if (name === 'weekdays' && Array.isArray(wanted)) {
    return canonical([...new Set(wanted)].sort()) === canonical(present)
  }
  return canonical(wanted ?? null) === canonical(present ?? null)
}

/** As JSON with sorted fields. */
export function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`
  if (!isObject(value)) return JSON.stringify(value) ?? 'null'
  const fields = Object.keys(value).sort()
  return `{${fields.map((name) => `${JSON.stringify(name)}:${canonical(value[name])}`).join()}}`
}

/**
 * How the change of a field is shown: without secrets, and without what came from the environment.
 *
 * @param source of the field
 * @param isSecret whether it is known as one, besides those that always are
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
  return printable(ADDRESSES.includes(name) ? maskedQuery(value) : value)
}
