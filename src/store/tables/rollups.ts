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
  /** What the row adds to the site's total. A batch adds its `total_events` in the row without a name. */
  total: number
  /** Events whose sender's time was out of bounds and was replaced by ours. */
  skewed: number
  user_data_total: number
  email: number
  phone: number
  address: number
  /** Base of the four fields below, which batches do not report. */
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
  /** Empty for what a batch reports without naming an event. */
  event_name: string
}

/** What events report besides presence flags. Only events that report any of it have a row. */
export interface SignalCounts {
  /** Events that reported consent: the base of the consent counts below. */
  consent_total: number
  ad_storage_granted: number
  ad_storage_denied: number
  analytics_storage_granted: number
  analytics_storage_denied: number
  ad_user_data_granted: number
  ad_user_data_denied: number
  ad_personalization_granted: number
  ad_personalization_denied: number
  /** Events that reported whether a choice followed the consent default … */
  update_known: number
  /** … and those of them on which none had. */
  never_updated: number
  /** Events of visitors to whom the Digital Markets Act applies. */
  dma: number
  /** Events that reported which identifiers they carry: the base of the seven below. */
  identifiers_total: number
  event_id: number
  client_id: number
  /** Cookies of Meta's pixel. */
  fbp: number
  fbc: number
  click_id: number
  ip: number
  user_agent: number
  /** Commerce events whose fields were checked: the base of the counts below. */
  validity_total: number
  value_zero: number
  value_invalid: number
  currency_invalid: number
  /** Purchases whose transaction id occurred before, as far as one instance of the tag server remembers. */
  transaction_duplicate: number
  items_empty: number
  /**
   * Sum of w·(w − 1) over the events that stand for w events each. Added to the number of events it gives the sum of the squared
   * weights; that sum divided by the number of events is how many events one sent event stood for.
   */
  weight_excess: number
}

export interface SignalRollupTable extends RollupKey, SignalCounts {
  /** Empty for what a batch reports without naming an event. */
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

/** Signals of the events that a tag ran on, and its vendor's answers. */
export interface TagSignalCounts {
  /** Executions on events that reported consent. */
  consent_total: number
  ad_storage_denied: number
  analytics_storage_denied: number
  /** Executions by class of the HTTP status that the vendor answered with, where the tag reports it. */
  response_2xx: number
  response_3xx: number
  response_4xx: number
  response_5xx: number
  /** The vendor did not answer. */
  response_none: number
}

export interface TagSignalRollupTable extends RollupKey, TagSignalCounts {
  tag_key: string
}

/** How often a site's own parameter was present. */
export interface FieldCounts {
  present: number
  /** Events that reported whether it was. */
  total: number
}

/** Own parameters by event. Only events that name any have rows. */
export interface FieldRollupTable extends RollupKey, FieldCounts {
  /** Empty for what a batch reports without naming an event. */
  event_name: string
  field: string
}

/** Outcomes by event and tag: only hours and days, and only from per-event payloads. */
export interface EventTagRollupTable extends RollupKey, OutcomeCounts {
  event_name: string
  tag_key: string
}

/**
 * Counts of one container in one minute, as folds added them: one row for each, packed (see `PackedSums`). Null where there are none. Once
 * an hour is rolled up, its `event_tags` are in hour rows; after two days all are in minute rows.
 */
export interface MinutePartTable {
  site_no: number
  /** Start of the minute, epoch ms. */
  bucket: number
  container_id: string
  /** Tells parts of a minute apart; random. */
  part: number
  events: string | null
  tags: string | null
  event_tags: string | null
  signals: string | null
  tag_signals: string | null
  fields: string | null
}

/** Dirty buckets: hours and days whose derived rows are out of date. Reports read the finer rows there. */
export interface DirtyBucketTable {
  site_no: number
  grain: number
  bucket: number
  /** Grows with each fold that writes to the dirty bucket, see `oneWrite`. */
  writes: Generated<number>
}

export interface SiteContainerTable {
  site_no: number
  container_id: string
  last_seen_at: number
  /** Grows with each fold that adds counts of it, so that readers see whether something has changed. */
  writes: Generated<number>
}

/** A container version that sent something, in one environment. */
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

/** A name that a tag id has had. The latest one joins the rows of all. */
export interface TagNameTable {
  site_no: number
  container_id: string
  tag_id: string
  tag_name: string
  last_seen_at: number
}

/** A name admitted on a UTC day; the daily caps count these. */
export interface DailyNameTable {
  site_no: number
  day: number
  /** A `NameKind`: `event`, `tag`, `container`, `version`, `client` or `field`. */
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

/** Minute rows of hours before `gone_before` were deleted for their age; any that exist came later. */
export interface MinuteFloorTable {
  site_no: number
  /** Start of a UTC hour, epoch ms. */
  gone_before: number
  /** Start of the hour that is being deleted, or null. */
  clearing: number | null
  /** Start of a UTC hour; minute rows of older hours have been merged by fives, see `addUpNextHour`. */
  fives_before: number | null
}

/** What another system, such as the shop, counted for an event in an hour. */
export interface ReferenceCountTable {
  site_no: number
  /** The system that counted. */
  source: string
  event_name: string
  /** Start of the UTC hour, epoch ms. */
  bucket: number
  total: number
}
