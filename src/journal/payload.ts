import { type Static, Type } from 'typebox'
import { DAY, floorTo, MINUTE, monthOf, storable } from '../lib/index.ts'
import { EVENT_COLUMNS, NO_EVENT } from '../rollups/index.ts'
import { Consent, ConsentCounts, consentOfTags, TagConsent } from './consent.ts'
import { ContainerInfo, clientsOf, versionOf } from './container.ts'
import { bitOf, type Counts, EVENT } from './delta.ts'
import { Counter, Flag, mapOf, OptionalCounter } from './fields.ts'
import { IdentifierCounts, Identifiers } from './identifiers.ts'
import { OwnFieldCounts, OwnFields, ownFieldCountsOf, ownFieldsOf } from './own-fields.ts'
import { ResponseClass, ResponseCounts, responseMask } from './responses.ts'
import {
  appendClients,
  appendFields,
  appendOwnVersion,
  appendSignalMask,
  appendSignals,
  type Log,
  NO_ID,
  NO_TIME,
  outcomeWith,
  PART,
  SUM,
} from './row.ts'
import { batchSignals, eventMask, tagSignals } from './signals.ts'
import { Validity, ValidityCounts } from './validity.ts'
import { appendWeighted, Weight } from './weighted.ts'

/** Longest texts a payload may carry, in characters. */
const CONTAINER_ID_MAX = 64
export const NAME_MAX = 256
const TAG_ID_MAX = 64
/** Tags of one event, and names and tags of one batch. */
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
      'Of a preview of the container, or of an environment that is not the live one: kept among the samples, and in no count but that of the quota',
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

/** How far a sender's clock may be behind and ahead of ours before ours is used, ms. */
export const PAST_LIMIT_MS = DAY
export const FUTURE_LIMIT_MS = 5 * MINUTE

/**
 * Events a payload counts for, as the monthly quota sees it: none counts for nothing, or a sender of empty batches had no quota,
 * and one that stands for many counts for as many.
 */
export const eventsIn = (payload: Payload): number =>
  isBatch(payload) ? Math.max(1, payload.total_events) : (payload.weight ?? 1)

/**
 * Appends what a payload counts to a log.
 *
 * @param now time of acceptance, epoch ms
 */
export function appendPayload(log: Log, siteNo: number, payload: Payload, now: number): void {
  if (payload.preview === true) {
    log.push(siteNo, monthOf(now), eventsIn(payload), 1, now, 0, '', 0)
    return
  }
  const sentAt = isBatch(payload) ? payload.window_end_ms : payload.timestamp_ms
  const isSkewed = sentAt < now - PAST_LIMIT_MS || sentAt > now + FUTURE_LIMIT_MS
  const minute = floorTo(isSkewed ? now : sentAt, MINUTE)
  log.push(siteNo, monthOf(now), eventsIn(payload), 1, now, minute, storable(payload.container_id))
  appendOwnVersion(log, versionOf(payload.container, now))
  appendClients(log, clientsOf(payload.container, now))
  if (isBatch(payload)) appendBatch(log, payload, isSkewed)
  else appendEvent(log, payload, isSkewed)
}

/** A payload's entry as it stands in a journal row, for threads to hand over: reading a text costs next to nothing, its parts as much as their JSON. */
export interface EncodedEntry {
  /** What stands between the brackets of the list. */
  json: string
  /** Numbers and texts in it. */
  items: number
}

/** What `appendPayload` appends. */
export function encodeEntry(siteNo: number, payload: Payload, now: number): EncodedEntry {
  const log: Log = []
  appendPayload(log, siteNo, payload, now)
  return { json: JSON.stringify(log).slice(1, -1), items: log.length }
}

function appendEvent(log: Log, payload: EventPayload, isSkewed: boolean): void {
  log.push(1)
  const { weight = 1 } = payload
  if (weight === 1) {
    appendOne(log, payload, isSkewed)
    return
  }
  const one: Log = []
  appendOne(one, payload, isSkewed)
  appendWeighted(log, one, weight)
}

function appendOne(log: Log, payload: EventPayload, isSkewed: boolean): void {
  const skewed = isSkewed ? bitOf(EVENT.skewed) : 0
  const mask = COUNTED | skewed | userDataMask(payload.user_data) | ecommerceMask(payload.ecommerce)
  const signals = eventMask(payload)
  log.push(payload.event_name)
  appendSignalMask(log, signals)
  appendFields(log, ownFieldsOf(payload.fields))
  log.push(mask, payload.tags.length)
  const ofTags = consentOfTags(signals)
  for (const execution of payload.tags) {
    const { id, status, execution_time, response } = execution
    log.push(isNamed(execution) ? execution.name : `tag_${id}`)
    appendSignalMask(log, responseMask(response))
    const linked = isNamed(execution) ? storable(id) : NO_ID
    log.push(outcomeWith(status, ofTags), execution_time ?? NO_TIME, linked)
  }
}

const COUNTED = bitOf(EVENT.events) | bitOf(EVENT.total)
const USER_DATA = bitOf(EVENT.user_data_total) | bitOf(EVENT.user_data_detail_total)

/** An object without a flag that we know says nothing: it must not look like "all absent". */
function userDataMask(flags: EventPayload['user_data']): number {
  if (flags === undefined) return 0
  const { has_email, has_phone, has_first_name, has_last_name, has_city, has_country } = flags
  if ((has_email ?? has_phone ?? has_first_name ?? has_last_name ?? has_city ?? has_country) === undefined) return 0
  return (
    USER_DATA |
    (has_email === true ? bitOf(EVENT.email) : 0) |
    (has_phone === true ? bitOf(EVENT.phone) : 0) |
    (has_first_name === true || has_last_name === true ? bitOf(EVENT.address) : 0) |
    (has_first_name === true ? bitOf(EVENT.first_name) : 0) |
    (has_last_name === true ? bitOf(EVENT.last_name) : 0) |
    (has_city === true ? bitOf(EVENT.city) : 0) |
    (has_country === true ? bitOf(EVENT.country) : 0)
  )
}

function ecommerceMask(flags: EventPayload['ecommerce']): number {
  if (flags === undefined) return 0
  const { has_value, has_currency, has_transaction_id, has_items } = flags
  if ((has_value ?? has_currency ?? has_transaction_id ?? has_items) === undefined) return 0
  return (
    bitOf(EVENT.ecommerce_total) |
    (has_value === true ? bitOf(EVENT.value) : 0) |
    (has_currency === true ? bitOf(EVENT.currency) : 0) |
    (has_transaction_id === true ? bitOf(EVENT.transaction_id) : 0) |
    (has_items === true ? bitOf(EVENT.items) : 0)
  )
}

/** The counts of the whole stand under no name; names have their numbers only. */
function appendBatch(log: Log, batch: BatchPayload, isSkewed: boolean): void {
  const names = Object.entries(batch.event_counts ?? {})
  const tags = Object.entries(batch.tag_metrics ?? {})
  log.push(1 + names.length, NO_EVENT)
  appendSignals(log, batchSignals(batch))
  appendFields(log, ownFieldCountsOf(batch.fields))
  log.push(SUM, ...wholeCounts(batch, isSkewed), tags.length)
  for (const [name, metric] of tags) appendMetric(log, name, metric)
  for (const [name, count] of names) log.push(name, PART, count, 0)
}

function wholeCounts(batch: BatchPayload, isSkewed: boolean): Counts {
  const { total_events, user_data_quality: userData = {}, ecommerce_quality: ecommerce = {} } = batch
  const counts = EVENT_COLUMNS.map(() => 0)
  counts[EVENT.total] = total_events
  counts[EVENT.skewed] = isSkewed ? total_events : 0
  counts[EVENT.user_data_total] = userData.total ?? 0
  counts[EVENT.email] = userData.email ?? 0
  counts[EVENT.phone] = userData.phone ?? 0
  counts[EVENT.address] = userData.address ?? 0
  counts[EVENT.ecommerce_total] = ecommerce.total ?? 0
  counts[EVENT.value] = ecommerce.value ?? 0
  counts[EVENT.currency] = ecommerce.currency ?? 0
  counts[EVENT.transaction_id] = ecommerce.transaction_id ?? 0
  counts[EVENT.items] = ecommerce.items ?? 0
  return counts
}

function appendMetric(log: Log, name: string, metric: TagMetric): void {
  const { success = 0, failure = 0, timeout = 0, exception = 0, total_exec_ms } = metric
  const executions = metric.count ?? success + failure + timeout + exception
  const timed = total_exec_ms === undefined ? 0 : executions
  log.push(name)
  appendSignals(log, tagSignals(metric))
  log.push(PART, success, failure, timeout, exception, executions, total_exec_ms ?? 0, timed)
}

const isNamed = (execution: TagExecution): execution is TagExecution & { name: string } =>
  execution.name !== undefined && execution.name !== null && execution.name !== ''
