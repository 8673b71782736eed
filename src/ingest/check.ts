import { Compile } from 'typebox/compile'
import type { TLocalizedValidationError } from 'typebox/error'
import { storable } from '../rollups/index.ts'
import { BATCH_KEYS_MAX, BatchPayload, EventPayload, NAME_MAX, type Payload } from './payload.ts'

const eventCheck = Compile(EventPayload)
const batchCheck = Compile(BatchPayload)

/** A payload that keeps to the interface, or where it first does not (a JSON pointer; the root is `/`). */
export type Checked = { ok: true; payload: Payload } | { ok: false; path: string }

const PRESENCE_FIELDS = {
  user_data_quality: ['email', 'phone', 'address'],
  ecommerce_quality: ['value', 'currency', 'transaction_id', 'items'],
} as const

/** Paths are stored and shown to people: keys of the sender's own making are cut to this, and made storable. */
const PATH_MAX = 200

/** Says whether parsed JSON is a payload. Never looks at, or tells, a value beyond its type and range. */
export function checkPayload(value: unknown): Checked {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return refuse('/')
  if ('batch' in value && value.batch === true) {
    if (!batchCheck.Check(value)) return refuse(firstPath(batchCheck.Errors(value)))
    const path = inconsistentPath(value)
    return path === undefined ? { ok: true, payload: value } : refuse(path)
  }
  if (!eventCheck.Check(value)) return refuse(firstPath(eventCheck.Errors(value)))
  return { ok: true, payload: value }
}

/** What a schema cannot say: the order of times, sizes of maps, and that a part is not larger than its whole. */
function inconsistentPath(batch: BatchPayload): string | undefined {
  if (batch.window_start_ms > batch.window_end_ms) return '/window_start_ms'
  for (const field of ['event_counts', 'tag_metrics'] as const) {
    const names = Object.keys(batch[field] ?? {})
    if (names.length > BATCH_KEYS_MAX) return `/${field}`
    const odd = names.find((name) => name === '' || name.length > NAME_MAX)
    if (odd !== undefined) return `/${field}/${odd}`
  }
  for (const field of ['user_data_quality', 'ecommerce_quality'] as const) {
    const quality: Readonly<Record<string, unknown>> = batch[field] ?? {}
    const total = Number(quality.total ?? 0)
    const part = PRESENCE_FIELDS[field].find((name) => Number(quality[name] ?? 0) > total)
    if (part !== undefined) return `/${field}/${part}`
  }
  return undefined
}

const refuse = (path: string): Checked => ({ ok: false, path: storable(path.slice(0, PATH_MAX)) })

function firstPath(errors: readonly TLocalizedValidationError[]): string {
  const [error] = errors
  if (error === undefined) return '/'
  const [missing] = error.keyword === 'required' ? error.params.requiredProperties : []
  return missing === undefined ? error.instancePath || '/' : `${error.instancePath}/${missing}`
}
