import { type BatchPayload, type EventPayload, isBatch, type Payload, type TagExecution } from '../journal/index.ts'

/** The payload without unknown fields, so that content sent by mistake is kept nowhere: neither in memory nor in the store. */
export const knownFieldsOf = (payload: Payload): Payload =>
  isBatch(payload) ? batchFields(payload) : eventFields(payload)

function eventFields(payload: EventPayload): EventPayload {
  return {
    container_id: payload.container_id,
    event_name: payload.event_name,
    timestamp_ms: payload.timestamp_ms,
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
    ...(payload.ecommerce === undefined
      ? {}
      : { ecommerce: pick(payload.ecommerce, ['has_value', 'has_currency', 'has_transaction_id', 'has_items']) }),
  }
}

/** Written out, because it is done for every tag of every request. */
function tagFields({ id, name, status, execution_time }: TagExecution): TagExecution {
  const known: TagExecution = { id, status }
  if (name !== undefined) known.name = name
  if (execution_time !== undefined) known.execution_time = execution_time
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
  ])
  if (payload.tag_metrics !== undefined) {
    known.tag_metrics = Object.fromEntries(
      Object.entries(payload.tag_metrics).map(([name, metric]) => [
        name,
        pick(metric, ['success', 'failure', 'timeout', 'exception', 'total_exec_ms', 'count']),
      ]),
    )
  }
  if (payload.user_data_quality !== undefined) {
    known.user_data_quality = pick(payload.user_data_quality, ['email', 'phone', 'address', 'total'])
  }
  if (payload.ecommerce_quality !== undefined) {
    known.ecommerce_quality = pick(payload.ecommerce_quality, ['value', 'currency', 'transaction_id', 'items', 'total'])
  }
  return known
}

function pick<T extends object, K extends keyof T>(source: T, keys: readonly K[]): Pick<T, K> {
  const picked: Partial<Pick<T, K>> = {}
  for (const key of keys) if (source[key] !== undefined) picked[key] = source[key]
  return picked as Pick<T, K>
}
