import type { BatchPayload, EventPayload, Payload } from '../src/journal/payload.ts'

interface TagTotals {
  executions: number
  success: number
  failure: number
  timeout: number
  exception: number
}

/** The expected overview, added up in the simplest way. */
export interface Model {
  total_events: number
  events: Map<string, number>
  tags: Map<string, TagTotals>
  userData: Record<'total' | 'email' | 'phone' | 'address' | 'first_name' | 'last_name' | 'city' | 'country', number>
  ecommerce: Record<'total' | 'value' | 'currency' | 'transaction_id' | 'items', number>
  /** Events by consent: `total`, `ad_storage_denied`, …; zeros are left out. */
  consent: Map<string, number>
  /** Events by identifier, with `total`; likewise. */
  identifiers: Map<string, number>
  /** Commerce events by fault, with `total`; likewise. */
  validity: Map<string, number>
  /** Executions while consent was denied: `GA4 ad_storage`; likewise. */
  denied: Map<string, number>
  /** Executions by the vendor's answer: `GA4 response_4xx`; likewise. */
  responses: Map<string, number>
  /** The site's own parameters by event (none for batches) and name: `purchase coupon present`, `… total`; likewise. */
  fields: Map<string, number>
}

/** Adds up payloads one by one, without minutes, merging or anything else that could be wrong. */
export function modelOf(payloads: readonly Payload[]): Model {
  const model: Model = {
    total_events: 0,
    events: new Map(),
    tags: new Map(),
    userData: { total: 0, email: 0, phone: 0, address: 0, first_name: 0, last_name: 0, city: 0, country: 0 },
    ecommerce: { total: 0, value: 0, currency: 0, transaction_id: 0, items: 0 },
    consent: new Map(),
    identifiers: new Map(),
    validity: new Map(),
    denied: new Map(),
    responses: new Map(),
    fields: new Map(),
  }
  for (const payload of payloads) {
    if (payload.batch === true) addBatch(model, payload)
    else for (let n = 0; n < (payload.weight ?? 1); n++) addEvent(model, payload)
  }
  return model
}

const one = (flag: boolean | undefined): number => (flag === true ? 1 : 0)

function raise(counts: Map<string, number>, name: string, by: number | undefined): void {
  if (by !== undefined && by > 0) counts.set(name, (counts.get(name) ?? 0) + by)
}

function addFlags(counts: Map<string, number>, flags: readonly (readonly [string, boolean | undefined])[]): void {
  if (flags.length > 0) raise(counts, 'total', 1)
  for (const [name, isRaised] of flags) raise(counts, name, one(isRaised))
}

function tagOf(model: Model, key: string): TagTotals {
  const tag = model.tags.get(key) ?? { executions: 0, success: 0, failure: 0, timeout: 0, exception: 0 }
  model.tags.set(key, tag)
  return tag
}

function addEvent(model: Model, payload: EventPayload): void {
  const { event_name, tags, user_data = {}, ecommerce = {}, consent = {}, identifiers = {}, fields = {} } = payload
  model.total_events++
  model.events.set(event_name, (model.events.get(event_name) ?? 0) + 1)
  for (const execution of tags) {
    const tag = tagOf(model, execution.name ? execution.name : `tag_${execution.id}`)
    tag.executions++
    tag[execution.status]++
    const key = execution.name || `tag_${execution.id}`
    if (execution.response !== undefined) raise(model.responses, `${key} response_${execution.response}`, 1)
    for (const purpose of ['ad_storage', 'analytics_storage'] as const) {
      if (consent[purpose] === 'denied') raise(model.denied, `${key} ${purpose}`, 1)
    }
  }
  if (Object.keys(consent).length > 0) {
    raise(model.consent, 'total', 1)
    for (const [field, said] of Object.entries(consent)) {
      if (said === 'granted' || said === 'denied') raise(model.consent, `${field}_${said}`, 1)
    }
    if (consent.updated === false) raise(model.consent, 'never_updated', 1)
    if (consent.updated !== undefined) raise(model.consent, 'update_known', 1)
    if (consent.dma === true) raise(model.consent, 'dma', 1)
  }
  if (Object.keys(user_data).length > 0) {
    model.userData.total++
    model.userData.email += one(user_data.has_email)
    model.userData.phone += one(user_data.has_phone)
    model.userData.address += one(user_data.has_first_name === true || user_data.has_last_name === true)
    model.userData.first_name += one(user_data.has_first_name)
    model.userData.last_name += one(user_data.has_last_name)
    model.userData.city += one(user_data.has_city)
    model.userData.country += one(user_data.has_country)
  }
  for (const [name, isThere] of Object.entries(fields)) {
    raise(model.fields, `${event_name} ${name} total`, 1)
    raise(model.fields, `${event_name} ${name} present`, one(isThere))
  }
  addFlags(
    model.identifiers,
    Object.entries(identifiers).map(([flag, isThere]) => [flag.slice('has_'.length), isThere]),
  )
  addFlags(
    model.validity,
    Object.entries(ecommerce).filter(([flag]) => !flag.startsWith('has_')),
  )
  if (Object.keys(ecommerce).some((flag) => flag.startsWith('has_'))) {
    model.ecommerce.total++
    model.ecommerce.value += one(ecommerce.has_value)
    model.ecommerce.currency += one(ecommerce.has_currency)
    model.ecommerce.transaction_id += one(ecommerce.has_transaction_id)
    model.ecommerce.items += one(ecommerce.has_items)
  }
}

function addBatch(model: Model, batch: BatchPayload): void {
  model.total_events += batch.total_events
  for (const [name, count] of Object.entries(batch.event_counts ?? {})) {
    model.events.set(name, (model.events.get(name) ?? 0) + count)
  }
  for (const [name, metric] of Object.entries(batch.tag_metrics ?? {})) {
    const { success = 0, failure = 0, timeout = 0, exception = 0 } = metric
    const tag = tagOf(model, name)
    tag.success += success
    tag.failure += failure
    tag.timeout += timeout
    tag.exception += exception
    tag.executions += metric.count ?? success + failure + timeout + exception
    for (const [field, count] of Object.entries(metric)) {
      if (field.startsWith('response_')) raise(model.responses, `${name} ${field}`, count)
    }
    raise(model.denied, `${name} ad_storage`, metric.ad_storage_denied)
    raise(model.denied, `${name} analytics_storage`, metric.analytics_storage_denied)
  }
  for (const [field, count] of Object.entries(batch.consent ?? {})) raise(model.consent, field, count)
  const { user_data_quality: userData = {}, ecommerce_quality: ecommerce = {} } = batch
  for (const [field, count] of Object.entries(userData)) model.userData[field as keyof Model['userData']] += count
  const {
    validity_total,
    value_zero,
    value_invalid,
    currency_invalid,
    transaction_duplicate,
    items_empty,
    ...presence
  } = ecommerce
  for (const [field, count] of Object.entries(presence)) model.ecommerce[field as keyof Model['ecommerce']] += count
  raise(model.validity, 'total', validity_total)
  const faults = { value_zero, value_invalid, currency_invalid, transaction_duplicate, items_empty }
  for (const [field, count] of Object.entries(faults)) raise(model.validity, field, count)
  for (const [field, count] of Object.entries(batch.identifiers ?? {})) raise(model.identifiers, field, count)
  for (const [name, { present, total }] of Object.entries(batch.fields ?? {})) {
    raise(model.fields, ` ${name} total`, total)
    raise(model.fields, ` ${name} present`, present)
  }
}
