import { Compile } from 'typebox/compile'
import type { TLocalizedValidationError } from 'typebox/error'
import { BATCH_KEYS_MAX, BatchPayload, EventPayload, NAME_MAX, type Payload, TAGS_MAX } from '../journal/index.ts'
import { storable } from '../lib/index.ts'

const eventCheck = Compile(EventPayload)
const batchCheck = Compile(BatchPayload)

/** A payload that keeps to the interface, or where it first does not (a JSON pointer; the root is `/`). */
export type Checked = { ok: true; payload: Payload } | { ok: false; path: string }

const PRESENCE_FIELDS = {
  user_data_quality: ['email', 'phone', 'address'],
  ecommerce_quality: ['value', 'currency', 'transaction_id', 'items'],
} as const

/** Paths are stored and shown: keys that the sender makes up are cut to this length, and made storable. */
const PATH_MAX = 200

/** Checks whether parsed JSON is a payload. Never inspects or reports a value beyond its type and range. */
export function checkPayload(value: unknown): Checked {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return violation('/')
  const oversized = oversizedPath(value)
  if (oversized !== undefined) return violation(oversized)
  if ('batch' in value && value.batch === true) {
    if (!batchCheck.Check(value)) return violation(firstPath(batchCheck.Errors(value)))
    const path = inconsistentPath(value)
    return path === undefined ? { ok: true, payload: value } : violation(path)
  }
  if (!eventCheck.Check(value)) return violation(firstPath(eventCheck.Errors(value)))
  return { ok: true, payload: value }
}

/**
 * The list or map that has more entries than allowed. Checked before the schema, which visits every entry to report what is
 * wrong: half a second for a body of 1 MB.
 */
function oversizedPath(payload: object): string | undefined {
  if ('tags' in payload && Array.isArray(payload.tags) && payload.tags.length > TAGS_MAX) return '/tags'
  if ('event_counts' in payload && hasTooManyKeys(payload.event_counts)) return '/event_counts'
  if ('tag_metrics' in payload && hasTooManyKeys(payload.tag_metrics)) return '/tag_metrics'
  return undefined
}

const hasTooManyKeys = (map: unknown): boolean =>
  typeof map === 'object' && map !== null && Object.keys(map).length > BATCH_KEYS_MAX

/** What a schema cannot express: the order of times, names, and that no part is larger than its whole. */
function inconsistentPath(batch: BatchPayload): string | undefined {
  if (batch.window_start_ms > batch.window_end_ms) return '/window_start_ms'
  const { event_counts = {}, tag_metrics = {} } = batch
  for (const [field, map] of Object.entries({ event_counts, tag_metrics })) {
    const odd = Object.keys(map).find((name) => name === '' || name.length > NAME_MAX)
    if (odd !== undefined) return `/${field}/${odd}`
  }
  if (sum(Object.values(event_counts)) > batch.total_events) return '/event_counts'
  for (const [name, metric] of Object.entries(tag_metrics)) {
    const { count, success = 0, failure = 0, timeout = 0, exception = 0 } = metric
    if (count !== undefined && success + failure + timeout + exception > count) return `/tag_metrics/${name}/count`
  }
  for (const field of ['user_data_quality', 'ecommerce_quality'] as const) {
    const quality: Readonly<Record<string, unknown>> = batch[field] ?? {}
    const total = Number(quality.total ?? 0)
    const part = PRESENCE_FIELDS[field].find((name) => Number(quality[name] ?? 0) > total)
    if (part !== undefined) return `/${field}/${part}`
  }
  return undefined
}

const sum = (counts: readonly number[]): number => counts.reduce((total, count) => total + count, 0)

const violation = (path: string): Checked => ({ ok: false, path: storable(path.slice(0, PATH_MAX)) })

function firstPath(errors: readonly TLocalizedValidationError[]): string {
  const [error] = errors
  if (error === undefined) return '/'
  const [missing] = error.keyword === 'required' ? error.params.requiredProperties : []
  return missing === undefined ? error.instancePath || '/' : `${error.instancePath}/${missing}`
}
