import type { Generated } from 'kysely'

interface RollupKey {
  site_no: number
  /** Length of the bucket in seconds: 60, 3600 or 86400. */
  grain: number
  /** Start of the bucket, epoch ms. */
  bucket: number
  container_id: string
}

export interface EventCounts {
  /** Events counted under this name. */
  events: number
  /** What the row adds to the site's total. A batch adds its `total_events` on the row without a name. */
  total: number
  /** Events whose sender's time was out of bounds and was replaced by ours. */
  skewed: number
  user_data_total: number
  email: number
  phone: number
  address: number
  /** Base of the four fields below, which batches do not carry. */
  user_data_detail_total: number
  first_name: number
  last_name: number
  city: number
  country: number
  ecommerce_total: number
  value: number
  currency: number
  transaction_id: number
  items: number
}

export interface EventRollupTable extends RollupKey, EventCounts {
  /** Empty for what a batch reports without saying of which event. */
  event_name: string
}

/** What events say beside their presence flags. Only those that say some of it have a row. */
export interface SignalCounts {
  /** Events that said anything of consent: the base of the counts below, which say nothing of the rest of them. */
  consent_total: number
  ad_storage_granted: number
  ad_storage_denied: number
  analytics_storage_granted: number
  analytics_storage_denied: number
  ad_user_data_granted: number
  ad_user_data_denied: number
  ad_personalization_granted: number
  ad_personalization_denied: number
  /** Events that said whether a choice followed the consent default … */
  update_known: number
  /** … and those of them on which none had. */
  never_updated: number
  /** Events of visitors to whom the Digital Markets Act applies. */
  dma: number
  /** Events that said which identifiers they carry: the base of the seven below. */
  identifiers_total: number
  event_id: number
  client_id: number
  /** Cookies of Meta's pixel. */
  fbp: number
  fbc: number
  click_id: number
  ip: number
  user_agent: number
  /** Commerce events whose fields were looked at: the base of what follows. */
  validity_total: number
  value_zero: number
  value_invalid: number
  currency_invalid: number
  /** Purchases whose transaction id had been there before, as far as one instance remembers. */
  transaction_duplicate: number
  items_empty: number
  /**
   * Of events that stand for `w` of their like each, the sum of w·(w − 1): the squares of all weights are this and the number of
   * events, and over the number of events they are how many events one that was sent stood for.
   */
  weight_excess: number
}

export interface SignalRollupTable extends RollupKey, SignalCounts {
  /** Empty for what a batch reports without saying of which event. */
  event_name: string
}

export interface OutcomeCounts {
  success: number
  failure: number
  timeout: number
  exception: number
}

export interface TagCounts extends OutcomeCounts {
  executions: number
  /** Sum of the known execution times, ms. */
  total_ms: number
  /** Executions whose time is known. */
  timed: number
  le_10: number
  le_25: number
  le_50: number
  le_100: number
  le_250: number
  le_500: number
  le_1000: number
  le_2500: number
  le_5000: number
  over_5000: number
}

export interface TagRollupTable extends RollupKey, TagCounts {
  tag_key: string
}

/** What events said on which a tag ran, and how its vendor answered. */
export interface TagSignalCounts {
  /** Executions on events that said anything of consent. */
  consent_total: number
  ad_storage_denied: number
  analytics_storage_denied: number
  /** Executions by the class of the HTTP status that the vendor answered with, where the tag says it. */
  response_2xx: number
  response_3xx: number
  response_4xx: number
  response_5xx: number
  /** No answer came. */
  response_none: number
}

export interface TagSignalRollupTable extends RollupKey, TagSignalCounts {
  tag_key: string
}

/** How often a parameter of the site's own was there. */
export interface FieldCounts {
  present: number
  /** Events that said whether it was. */
  total: number
}

/** Parameters that senders name, each on each event. Only those that name any have rows. */
export interface FieldRollupTable extends RollupKey, FieldCounts {
  /** Empty for what a batch reports without saying of which event. */
  event_name: string
  field: string
}

/** Which tag ended how on which event: hours and days only, and only from per-event payloads. */
export interface EventTagRollupTable extends RollupKey, OutcomeCounts {
  event_name: string
  tag_key: string
}

/** Dirty buckets: hours and days whose derived rows are out of date; reports read the finer rows there. */
export interface RollupMarkTable {
  site_no: number
  grain: number
  bucket: number
  /** How often folds have written to it since it is dirty. */
  writes: Generated<number>
}

export interface SiteContainerTable {
  site_no: number
  container_id: string
  last_seen_at: number
  /** How many folds have added counts of it: something has changed where this has. */
  writes: Generated<number>
}

/** A version of a container that sent something, in an environment of it. */
export interface ContainerVersionTable {
  site_no: number
  container_id: string
  version: string
  environment: string
  first_seen_at: number
  last_seen_at: number
}

/** A client of a container that claimed events. */
export interface ContainerClientTable {
  site_no: number
  container_id: string
  client_name: string
  first_seen_at: number
  last_seen_at: number
}

/** Which name a tag id has had. The latest one joins the rows of all. */
export interface TagNameTable {
  site_no: number
  container_id: string
  tag_id: string
  tag_name: string
  last_seen_at: number
}

/** Names admitted on a UTC day, which the cardinality cap counts. */
export interface DailyNameTable {
  site_no: number
  day: number
  /** `event`, `tag`, `container` or `version`. */
  kind: string
  name: string
}

export interface ClientUsageTable {
  client_id: string
  /** UTC month as a number: 202611. */
  month: number
  events: number
  requests: number
}

/** Minute rows of hours that start before `gone_before` were deleted by age; any that exist came later. */
export interface MinuteFloorTable {
  site_no: number
  /** Start of a UTC hour, epoch ms. */
  gone_before: number
  /** Start of the hour that is being emptied, or null. */
  clearing: number | null
  /** Likewise: minute rows of older hours have been added up by fives, see `addUpNextHour`. */
  fives_before: number | null
}

/** What another system, such as the shop, counted of an event in an hour. */
export interface ReferenceCountTable {
  site_no: number
  /** Who counted. */
  source: string
  event_name: string
  /** Start of the UTC hour, epoch ms. */
  bucket: number
  total: number
}
