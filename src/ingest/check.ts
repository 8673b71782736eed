import { Type } from 'typebox'
import type { TLocalizedValidationError } from 'typebox/error'
// Not from `typebox/compile`, which is the same but loads 140 more modules at each start.
import { Compile } from 'typebox/schema'
import {
  BATCH_KEYS_MAX,
  BatchPayload,
  CLIENTS_MAX,
  CONSENT_COLUMNS,
  CONSENT_FIELDS,
  Counter,
  EventPayload,
  excessiveConsent,
  excessiveField,
  excessiveResponses,
  excessiveTagConsent,
  excessiveValidity,
  IDENTIFIER_COLUMNS,
  IDENTIFIER_FLAGS,
  isBatch,
  knownFieldCounts,
  NAME_MAX,
  OWN_FIELDS_MAX,
  type Payload,
  TAGS_MAX,
  type TagExecution,
  TagMetric,
  VALIDITY_COLUMNS,
} from '../journal/index.ts'
import { storable } from '../lib/index.ts'

const eventCheck = Compile(EventPayload)
/** Finds where a batch is wrong. */
const batchCheck = Compile(BatchPayload)
/**
 * A batch without the contents of its maps, which `countCheck` and `metricCheck` check value by value. The compiled check of the
 * whole looks up each value by name for every condition on it: 150 µs for a batch of 83 tags instead of 5.
 */
const shapeCheck = Compile(
  Type.Object({
    ...BatchPayload.properties,
    event_counts: Type.Optional(Type.Object({})),
    tag_metrics: Type.Optional(Type.Object({})),
  }),
)
const countCheck = Compile(Counter)
const metricCheck = Compile(TagMetric)

/** A valid payload, or where the first fault is: a JSON pointer, `/` for the root. */
type Checked = { ok: true; payload: Payload } | { ok: false; path: string }

const ECOMMERCE_FLAGS = ['has_value', 'has_currency', 'has_transaction_id', 'has_items', ...VALIDITY_COLUMNS] as const

const CONTAINER_FIELDS = ['version', 'environment', 'clients'] as const

const PRESENCE_FIELDS = {
  user_data_quality: ['email', 'phone', 'address'],
  ecommerce_quality: ['value', 'currency', 'transaction_id', 'items'],
  identifiers: IDENTIFIER_COLUMNS,
} as const

/** Length at which paths are cut: they are stored and shown, and contain keys that the sender makes up. */
const PATH_MAX = 200

/** Checks whether parsed JSON is a payload. Never inspects or reports more of a value than its type and range. */
export function checkPayload(value: unknown): Checked {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return violation('/')
  const oversized = oversizedPath(value)
  if (oversized !== undefined) return violation(oversized)
  if ('batch' in value && value.batch === true) {
    if (!isBatchPayload(value)) return violation(firstPath(batchCheck.Errors(value)))
    const path = inconsistentPath(value)
    return path === undefined ? { ok: true, payload: value } : violation(path)
  }
  if (!eventCheck.Check(value)) return violation(firstPath(eventCheck.Errors(value)))
  const odd = oddName(value.fields)
  return odd === undefined ? { ok: true, payload: value } : violation(`/fields/${odd}`)
}

const isBatchPayload = (value: object): value is BatchPayload =>
  shapeCheck.Check(value) &&
  Object.values(value.event_counts ?? {}).every((count) => countCheck.Check(count)) &&
  Object.values(value.tag_metrics ?? {}).every((metric) => metricCheck.Check(metric))

/**
 * The first list or map with more entries than allowed. Checked before the schema, because the schema visits every entry to
 * report faults: half a second for a body of 1 MB.
 */
function oversizedPath(payload: object): string | undefined {
  if ('tags' in payload && Array.isArray(payload.tags) && payload.tags.length > TAGS_MAX) return '/tags'
  if ('event_counts' in payload && hasTooManyKeys(payload.event_counts)) return '/event_counts'
  if ('tag_metrics' in payload && hasTooManyKeys(payload.tag_metrics)) return '/tag_metrics'
  if ('fields' in payload && hasTooManyKeys(payload.fields, OWN_FIELDS_MAX)) return '/fields'
  if ('container' in payload && hasTooManyClients(payload.container)) return '/container/clients'
  return undefined
}

const hasTooManyKeys = (map: unknown, most = BATCH_KEYS_MAX): boolean =>
  typeof map === 'object' && map !== null && Object.keys(map).length > most

const hasTooManyClients = (container: unknown): boolean =>
  typeof container === 'object' &&
  container !== null &&
  'clients' in container &&
  Array.isArray(container.clients) &&
  container.clients.length > CLIENTS_MAX

/** The first name that is empty or too long, in whole characters as a schema counts them. */
const oddName = (map: object = {}): string | undefined =>
  Object.keys(map).find((name) => name === '' || (name.length > NAME_MAX && [...name].length > NAME_MAX))

/** Checks what a schema cannot express: the order of times, names, and that no part exceeds its whole. */
function inconsistentPath(batch: BatchPayload): string | undefined {
  if (batch.window_start_ms > batch.window_end_ms) return '/window_start_ms'
  const { event_counts = {}, tag_metrics = {}, fields = {} } = batch
  for (const [field, map] of Object.entries({ event_counts, tag_metrics, fields })) {
    const odd = oddName(map)
    if (odd !== undefined) return `/${field}/${odd}`
  }
  if (sum(Object.values(event_counts)) > batch.total_events) return '/event_counts'
  for (const [name, metric] of Object.entries(tag_metrics)) {
    const { count, success = 0, failure = 0, timeout = 0, exception = 0 } = metric
    const ended = success + failure + timeout + exception
    if (count !== undefined && ended > count) return `/tag_metrics/${name}/count`
    const executions = count ?? ended
    const excess = excessiveTagConsent(metric, executions) ?? excessiveResponses(metric, executions)
    if (excess !== undefined) return `/tag_metrics/${name}/${excess}`
  }
  for (const field of ['user_data_quality', 'ecommerce_quality', 'identifiers'] as const) {
    const quality: Readonly<Record<string, unknown>> = batch[field] ?? {}
    const total = Number(quality.total ?? 0)
    const part = PRESENCE_FIELDS[field].find((name) => Number(quality[name] ?? 0) > total)
    if (part !== undefined) return `/${field}/${part}`
  }
  const invalid = batch.ecommerce_quality === undefined ? undefined : excessiveValidity(batch.ecommerce_quality)
  if (invalid !== undefined) return `/ecommerce_quality/${invalid}`
  const field = excessiveField(fields)
  if (field !== undefined) return `/fields/${field}/present`
  const excess = batch.consent === undefined ? undefined : excessiveConsent(batch.consent)
  return excess === undefined ? undefined : `/consent/${excess}`
}

const sum = (counts: readonly number[]): number => counts.reduce((total, count) => total + count, 0)

const violation = (path: string): Checked => ({ ok: false, path: storable(path.slice(0, PATH_MAX)) })

function firstPath([, errors]: readonly [boolean, readonly TLocalizedValidationError[]]): string {
  const [error] = errors
  if (error === undefined) return '/'
  const [missing] = error.keyword === 'required' ? error.params.requiredProperties : []
  return missing === undefined ? error.instancePath || '/' : `${error.instancePath}/${missing}`
}

/** The payload without unknown fields, so that content sent by mistake is kept neither in memory nor in the store. */
export const knownFieldsOf = (payload: Payload): Payload =>
  isBatch(payload) ? batchFields(payload) : eventFields(payload)

function eventFields(payload: EventPayload): EventPayload {
  return {
    container_id: payload.container_id,
    event_name: payload.event_name,
    timestamp_ms: payload.timestamp_ms,
    ...(payload.weight === undefined ? {} : { weight: payload.weight }),
    tags: payload.tags.map(tagFields),
    ...(payload.user_data === undefined
      ? {}
      : {
          user_data: pick(payload.user_data, [
            'has_email',
            'has_phone',
            'has_first_name',
            'has_last_name',
            'has_city',
            'has_country',
          ]),
        }),
    ...(payload.ecommerce === undefined ? {} : { ecommerce: pick(payload.ecommerce, ECOMMERCE_FLAGS) }),
    ...(payload.consent === undefined ? {} : { consent: pick(payload.consent, CONSENT_FIELDS) }),
    ...(payload.identifiers === undefined ? {} : { identifiers: pick(payload.identifiers, IDENTIFIER_FLAGS) }),
    ...(payload.fields === undefined ? {} : { fields: { ...payload.fields } }),
    ...(payload.container === undefined ? {} : { container: pick(payload.container, CONTAINER_FIELDS) }),
    ...(payload.preview === undefined ? {} : { preview: payload.preview }),
  }
}

/** Written out for speed: it runs for every tag of every request. */
function tagFields({ id, name, status, execution_time, response }: TagExecution): TagExecution {
  const known: TagExecution = { id, status }
  if (name !== undefined) known.name = name
  if (execution_time !== undefined) known.execution_time = execution_time
  if (response !== undefined) known.response = response
  return known
}

function batchFields(payload: BatchPayload): BatchPayload {
  const known: BatchPayload = pick(payload, [
    'container_id',
    'batch',
    'window_start_ms',
    'window_end_ms',
    'total_events',
    'event_counts',
    'preview',
  ])
  if (payload.tag_metrics !== undefined) {
    known.tag_metrics = Object.fromEntries(
      Object.entries(payload.tag_metrics).map(([name, metric]) => [name, metricFields(metric)]),
    )
  }
  if (payload.user_data_quality !== undefined) {
    known.user_data_quality = pick(payload.user_data_quality, ['email', 'phone', 'address', 'total'])
  }
  if (payload.ecommerce_quality !== undefined) {
    known.ecommerce_quality = pick(payload.ecommerce_quality, [
      ...PRESENCE_FIELDS.ecommerce_quality,
      'total',
      'validity_total',
      ...VALIDITY_COLUMNS,
    ])
  }
  if (payload.consent !== undefined) known.consent = pick(payload.consent, [...CONSENT_COLUMNS, 'total'])
  if (payload.container !== undefined) known.container = pick(payload.container, CONTAINER_FIELDS)
  if (payload.identifiers !== undefined) known.identifiers = pick(payload.identifiers, [...IDENTIFIER_COLUMNS, 'total'])
  if (payload.fields !== undefined) known.fields = knownFieldCounts(payload.fields)
  return known
}

/** Written out for the same reason. */
function metricFields(metric: TagMetric): TagMetric {
  const { success, failure, timeout, exception, total_exec_ms, count } = metric
  const { consent_total, ad_storage_denied, analytics_storage_denied } = metric
  const { response_2xx, response_3xx, response_4xx, response_5xx, response_none } = metric
  const known: TagMetric = {}
  if (success !== undefined) known.success = success
  if (failure !== undefined) known.failure = failure
  if (timeout !== undefined) known.timeout = timeout
  if (exception !== undefined) known.exception = exception
  if (total_exec_ms !== undefined) known.total_exec_ms = total_exec_ms
  if (count !== undefined) known.count = count
  if (consent_total !== undefined) known.consent_total = consent_total
  if (ad_storage_denied !== undefined) known.ad_storage_denied = ad_storage_denied
  if (analytics_storage_denied !== undefined) known.analytics_storage_denied = analytics_storage_denied
  if (response_2xx !== undefined) known.response_2xx = response_2xx
  if (response_3xx !== undefined) known.response_3xx = response_3xx
  if (response_4xx !== undefined) known.response_4xx = response_4xx
  if (response_5xx !== undefined) known.response_5xx = response_5xx
  if (response_none !== undefined) known.response_none = response_none
  return known
}

function pick<T extends object, K extends keyof T>(source: T, keys: readonly K[]): Pick<T, K> {
  const picked: Partial<Pick<T, K>> = {}
  for (const key of keys) if (source[key] !== undefined) picked[key] = source[key]
  return picked as Pick<T, K>
}
