import { type Static, type TSchema, Type } from 'typebox'

/** Longest texts a payload may carry, in characters. */
const CONTAINER_ID_MAX = 64
export const NAME_MAX = 256
const TAG_ID_MAX = 64
/** Tags of one event, and names and tags of one batch. */
export const TAGS_MAX = 500
export const BATCH_KEYS_MAX = 1_000

export const Counter = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })
const ContainerId = Type.String({
  minLength: 1,
  maxLength: CONTAINER_ID_MAX,
  description: 'Server-side container ID (form GTM-XXXXXX)',
})
const Flag = Type.Optional(Type.Boolean())

const TagExecution = Type.Object({
  id: Type.String({ minLength: 1, maxLength: TAG_ID_MAX, description: 'Tag ID in the container' }),
  name: Type.Optional(
    Type.Union([Type.String({ maxLength: NAME_MAX }), Type.Null()], {
      description: 'Tag name; empty or null means the same as absent',
    }),
  ),
  status: Type.Union([
    Type.Literal('success'),
    Type.Literal('failure'),
    Type.Literal('timeout'),
    Type.Literal('exception'),
  ]),
  execution_time: Type.Optional(Type.Union([Counter, Type.Null()], { description: 'Duration in milliseconds' })),
})

/** One event with the tags that ran on it (section 2.3 of the interface). Unknown fields are ignored. */
export const EventPayload = Type.Object(
  {
    container_id: ContainerId,
    event_name: Type.String({ minLength: 1, maxLength: NAME_MAX }),
    timestamp_ms: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description: 'Unix time in ms' }),
    batch: Type.Optional(Type.Literal(false)),
    tags: Type.Array(TagExecution, { maxItems: TAGS_MAX }),
    user_data: Type.Optional(
      Type.Object(
        {
          has_email: Flag,
          has_phone: Flag,
          has_first_name: Flag,
          has_last_name: Flag,
          has_city: Flag,
          has_country: Flag,
        },
        { description: 'Presence flags; an empty object means "not reported"' },
      ),
    ),
    ecommerce: Type.Optional(
      Type.Object(
        { has_value: Flag, has_currency: Flag, has_transaction_id: Flag, has_items: Flag },
        { description: 'Presence flags; an empty object means "not reported"' },
      ),
    ),
  },
  { title: 'Per-event payload' },
)

export const TagMetric = Type.Object({
  success: Type.Optional(Counter),
  failure: Type.Optional(Counter),
  timeout: Type.Optional(Counter),
  exception: Type.Optional(Counter),
  total_exec_ms: Type.Optional(Counter),
  count: Type.Optional(Counter),
})

/**
 * An object with keys of the sender's own making. `Type.Record` would match keys by a pattern that stops at a line
 * break, and let the value behind such a key go unchecked.
 */
function mapOf<T extends TSchema>(value: T, description: string) {
  return Type.Unsafe<Record<string, Static<T>>>(Type.Object({}, { additionalProperties: value, description }))
}

/** Counters of many events (section 2.4 of the interface). Unknown fields are ignored. */
export const BatchPayload = Type.Object(
  {
    container_id: ContainerId,
    batch: Type.Literal(true),
    window_start_ms: Counter,
    window_end_ms: Counter,
    total_events: Counter,
    event_counts: Type.Optional(mapOf(Counter, 'Event name → count')),
    tag_metrics: Type.Optional(mapOf(TagMetric, 'Tag name → outcomes')),
    user_data_quality: Type.Optional(
      Type.Object({
        email: Type.Optional(Counter),
        phone: Type.Optional(Counter),
        address: Type.Optional(Counter),
        total: Type.Optional(Counter),
      }),
    ),
    ecommerce_quality: Type.Optional(
      Type.Object({
        value: Type.Optional(Counter),
        currency: Type.Optional(Counter),
        transaction_id: Type.Optional(Counter),
        items: Type.Optional(Counter),
        total: Type.Optional(Counter),
      }),
    ),
  },
  { title: 'Batched payload' },
)

export type EventPayload = Static<typeof EventPayload>
export type BatchPayload = Static<typeof BatchPayload>
export type Payload = EventPayload | BatchPayload
export type TagExecution = Static<typeof TagExecution>
export type TagMetric = Static<typeof TagMetric>

export const isBatch = (payload: Payload): payload is BatchPayload => payload.batch === true
