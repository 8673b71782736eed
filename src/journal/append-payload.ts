import { floorTo, MINUTE, monthOf, storable } from '../lib/index.ts'
import { EVENT_COLUMNS, NO_EVENT } from '../rollups/index.ts'
import { consentOfTags } from './consent.ts'
import { clientsOf, versionOf } from './container.ts'
import { bitOf, type Counts, EVENT } from './delta.ts'
import { ownFieldCountsOf, ownFieldsOf } from './fields.ts'
import {
  type BatchPayload,
  type EventPayload,
  eventsIn,
  FUTURE_LIMIT_MS,
  isBatch,
  PAST_LIMIT_MS,
  type Payload,
  type TagExecution,
  type TagMetric,
} from './payload.ts'
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
import { batchSignals, eventMask, responseMask, tagSignals } from './signals.ts'
import { appendWeighted } from './weighted.ts'

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

/**
 * A payload's entry, encoded as it stands in a journal row. Threads hand it over as text: that costs the main thread next to
 * nothing, while objects would cost as much as parsing their JSON.
 */
export interface EncodedEntry {
  /** The items of the JSON list, without its brackets. */
  json: string
  /** Numbers and texts in `json`. */
  items: number
}

/** Encodes what `appendPayload` would append. */
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

/** An object without any flag that we know reports nothing: it must not count as "all absent". */
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

/** Counts of the whole batch stand under `NO_EVENT`; event names only have their number of events. */
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
