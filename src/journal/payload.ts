import { type Static, Type } from 'typebox'
import { DAY, MINUTE } from '../lib/index.ts'
import { Consent, ConsentCounts, TagConsent } from './consent.ts'
import { ContainerInfo } from './container.ts'
import { Counter, Flag, mapOf, OptionalCounter, OwnFieldCounts, OwnFields } from './fields.ts'
import { IdentifierCounts, Identifiers, ResponseClass, ResponseCounts, Validity, ValidityCounts } from './signals.ts'
import { Weight } from './weighted.ts'

/** Longest texts a payload may carry, in characters. */
const CONTAINER_ID_MAX = 64
export const NAME_MAX = 256
const TAG_ID_MAX = 64
/** Most tags of one event, and most names or tags of one batch. */
export const TAGS_MAX = 500
export const BATCH_KEYS_MAX = 1_000

const ContainerId = Type.String({
  minLength: 1,
  maxLength: CONTAINER_ID_MAX,
  description: 'Server-side container ID (form GTM-XXXXXX)',
})

const Preview = Type.Optional(
  Type.Boolean({
    description:
      'From a preview of the container or an environment other than live: kept among the samples, and counted only for the quota',
  }),
)

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
  response: ResponseClass,
})

/** One event with the tags that ran on it (section 2.3 of the interface). Unknown fields are ignored. */
export const EventPayload = Type.Object(
  {
    container_id: ContainerId,
    event_name: Type.String({ minLength: 1, maxLength: NAME_MAX }),
    timestamp_ms: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description: 'Unix time in ms' }),
    batch: Type.Optional(Type.Literal(false)),
    weight: Weight,
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
        { has_value: Flag, has_currency: Flag, has_transaction_id: Flag, has_items: Flag, ...Validity.properties },
        { description: 'Presence flags; an empty object means "not reported"' },
      ),
    ),
    consent: Type.Optional(Consent),
    identifiers: Type.Optional(Identifiers),
    fields: OwnFields,
    container: Type.Optional(ContainerInfo),
    preview: Preview,
  },
  { title: 'Per-event payload' },
)

export const TagMetric = Type.Object({
  success: OptionalCounter,
  failure: OptionalCounter,
  timeout: OptionalCounter,
  exception: OptionalCounter,
  total_exec_ms: OptionalCounter,
  count: OptionalCounter,
  ...TagConsent.properties,
  ...ResponseCounts.properties,
})

/** Counters of many events (section 2.4 of the interface). Unknown fields are ignored. */
export const BatchPayload = Type.Object(
  {
    container_id: ContainerId,
    batch: Type.Literal(true),
    window_start_ms: Counter,
    window_end_ms: Counter,
    total_events: Counter,
    event_counts: Type.Optional(mapOf(Counter, { description: 'Event name → count' })),
    tag_metrics: Type.Optional(mapOf(TagMetric, { description: 'Tag name → outcomes' })),
    user_data_quality: Type.Optional(
      Type.Object({
        email: OptionalCounter,
        phone: OptionalCounter,
        address: OptionalCounter,
        total: OptionalCounter,
      }),
    ),
    ecommerce_quality: Type.Optional(
      Type.Object({
        value: OptionalCounter,
        currency: OptionalCounter,
        transaction_id: OptionalCounter,
        items: OptionalCounter,
        total: OptionalCounter,
        ...ValidityCounts.properties,
      }),
    ),
    consent: Type.Optional(ConsentCounts),
    identifiers: Type.Optional(IdentifierCounts),
    fields: OwnFieldCounts,
    container: Type.Optional(ContainerInfo),
    preview: Preview,
  },
  { title: 'Batched payload' },
)

export type EventPayload = Static<typeof EventPayload>
export type BatchPayload = Static<typeof BatchPayload>
export type Payload = EventPayload | BatchPayload
export type TagExecution = Static<typeof TagExecution>
export type TagMetric = Static<typeof TagMetric>

export const isBatch = (payload: Payload): payload is BatchPayload => payload.batch === true

/** How far a sender's clock may be behind or ahead of ours, ms; beyond that our time counts. */
export const PAST_LIMIT_MS = DAY
export const FUTURE_LIMIT_MS = 5 * MINUTE

/**
 * Events that count towards the monthly quota. An empty batch counts as one, or its sender would have no quota, and an event with
 * a weight counts that many times.
 */
export const eventsIn = (payload: Payload): number =>
  isBatch(payload) ? Math.max(1, payload.total_events) : (payload.weight ?? 1)
