import { DAY, floorTo, MINUTE } from '../lib/index.ts'
import {
  add,
  addUsage,
  type Cell,
  cellAt,
  type Delta,
  EVENT,
  eventIn,
  LATENCY_BOUNDS_MS,
  NO_EVENT,
  storable,
  TAG,
  tagIn,
} from '../rollups/index.ts'
import { type BatchPayload, type EventPayload, isBatch, type Payload, type TagExecution } from './payload.ts'

/** How far a sender's clock may be behind and ahead of ours before ours is used, ms. */
export const PAST_LIMIT_MS = DAY
export const FUTURE_LIMIT_MS = 5 * MINUTE

/** Events a payload counts for, as the monthly quota sees it. */
export const eventsIn = (payload: Payload): number => (isBatch(payload) ? payload.total_events : 1)

/**
 * Adds what a payload counts to `delta`.
 *
 * @param now time of acceptance, epoch ms
 * @param month UTC month of `now`, see `monthOf`
 */
export function addPayload(delta: Delta, siteNo: number, payload: Payload, now: number, month: number): void {
  const site = delta.site(siteNo)
  addUsage(site, month, eventsIn(payload), 1)
  const sentAt = isBatch(payload) ? payload.window_end_ms : payload.timestamp_ms
  const isSkewed = sentAt < now - PAST_LIMIT_MS || sentAt > now + FUTURE_LIMIT_MS
  const cell = cellAt(site, floorTo(isSkewed ? now : sentAt, MINUTE), storableId(payload.container_id))
  cell.lastSeenAt = Math.max(cell.lastSeenAt, now)
  if (isBatch(payload)) addBatch(cell, payload, isSkewed)
  else addEvent(cell, payload, isSkewed)
}

function addEvent(cell: Cell, payload: EventPayload, isSkewed: boolean): void {
  const event = eventIn(cell, payload.event_name)
  const { counts } = event
  add(counts, EVENT.events, 1)
  add(counts, EVENT.total, 1)
  if (isSkewed) add(counts, EVENT.skewed, 1)
  addUserData(counts, payload.user_data)
  addEcommerce(counts, payload.ecommerce)
  for (const execution of payload.tags) {
    const tag = tagIn(event, tagKeyOf(execution))
    if (isNamed(execution) && !tag.ids.includes(execution.id)) tag.ids.push(storableId(execution.id))
    add(tag.counts, TAG[execution.status], 1)
    add(tag.counts, TAG.executions, 1)
    const ms = execution.execution_time
    if (ms === undefined || ms === null) continue
    add(tag.counts, TAG.timed, 1)
    add(tag.counts, TAG.total_ms, ms)
    add(tag.counts, TAG.le_10 + latencyBucket(ms), 1)
  }
}

function addUserData(counts: number[], flags: EventPayload['user_data']): void {
  if (flags === undefined || !reportsAny(flags, USER_DATA_FLAGS)) return
  add(counts, EVENT.user_data_total, 1)
  add(counts, EVENT.user_data_detail_total, 1)
  if (flags.has_email === true) add(counts, EVENT.email, 1)
  if (flags.has_phone === true) add(counts, EVENT.phone, 1)
  if (flags.has_first_name === true || flags.has_last_name === true) add(counts, EVENT.address, 1)
  if (flags.has_first_name === true) add(counts, EVENT.first_name, 1)
  if (flags.has_last_name === true) add(counts, EVENT.last_name, 1)
  if (flags.has_city === true) add(counts, EVENT.city, 1)
  if (flags.has_country === true) add(counts, EVENT.country, 1)
}

function addEcommerce(counts: number[], flags: EventPayload['ecommerce']): void {
  if (flags === undefined || !reportsAny(flags, ECOMMERCE_FLAGS)) return
  add(counts, EVENT.ecommerce_total, 1)
  if (flags.has_value === true) add(counts, EVENT.value, 1)
  if (flags.has_currency === true) add(counts, EVENT.currency, 1)
  if (flags.has_transaction_id === true) add(counts, EVENT.transaction_id, 1)
  if (flags.has_items === true) add(counts, EVENT.items, 1)
}

const USER_DATA_FLAGS = [
  'has_email',
  'has_phone',
  'has_first_name',
  'has_last_name',
  'has_city',
  'has_country',
] as const
const ECOMMERCE_FLAGS = ['has_value', 'has_currency', 'has_transaction_id', 'has_items'] as const

/** An object without a flag that we know says nothing: it must not look like "all absent". */
function reportsAny<K extends string>(flags: { [P in K]?: boolean }, names: readonly K[]): boolean {
  for (const name of names) if (flags[name] !== undefined) return true
  return false
}

function addBatch(cell: Cell, batch: BatchPayload, isSkewed: boolean): void {
  const whole = eventIn(cell, NO_EVENT)
  add(whole.counts, EVENT.total, batch.total_events)
  if (isSkewed) add(whole.counts, EVENT.skewed, batch.total_events)
  for (const [name, count] of Object.entries(batch.event_counts ?? {})) {
    add(eventIn(cell, name).counts, EVENT.events, count)
  }
  for (const [name, metric] of Object.entries(batch.tag_metrics ?? {})) {
    const { success = 0, failure = 0, timeout = 0, exception = 0, total_exec_ms } = metric
    const executions = metric.count ?? success + failure + timeout + exception
    const { counts } = tagIn(whole, name)
    add(counts, TAG.success, success)
    add(counts, TAG.failure, failure)
    add(counts, TAG.timeout, timeout)
    add(counts, TAG.exception, exception)
    add(counts, TAG.executions, executions)
    if (total_exec_ms === undefined) continue
    add(counts, TAG.total_ms, total_exec_ms)
    add(counts, TAG.timed, executions)
  }
  addQuality(whole.counts, batch)
}

function addQuality(counts: number[], batch: BatchPayload): void {
  const userData = batch.user_data_quality
  if (userData !== undefined) {
    add(counts, EVENT.user_data_total, userData.total ?? 0)
    add(counts, EVENT.email, userData.email ?? 0)
    add(counts, EVENT.phone, userData.phone ?? 0)
    add(counts, EVENT.address, userData.address ?? 0)
  }
  const ecommerce = batch.ecommerce_quality
  if (ecommerce !== undefined) {
    add(counts, EVENT.ecommerce_total, ecommerce.total ?? 0)
    add(counts, EVENT.value, ecommerce.value ?? 0)
    add(counts, EVENT.currency, ecommerce.currency ?? 0)
    add(counts, EVENT.transaction_id, ecommerce.transaction_id ?? 0)
    add(counts, EVENT.items, ecommerce.items ?? 0)
  }
}

/** Place of an execution time among the histogram's buckets. */
export function latencyBucket(ms: number): number {
  let bucket = 0
  for (const bound of LATENCY_BOUNDS_MS) {
    if (ms <= bound) return bucket
    bucket++
  }
  return bucket
}

const isNamed = (execution: TagExecution): execution is TagExecution & { name: string } =>
  execution.name !== undefined && execution.name !== null && execution.name !== ''

const tagKeyOf = (execution: TagExecution): string => (isNamed(execution) ? execution.name : `tag_${execution.id}`)

/** Ids are stored as they come; only what a database cannot hold is replaced. */
const storableId = (id: string): string => (id.includes('\0') || !id.isWellFormed() ? storable(id) : id)
