import {
  type EventCounts,
  type FieldCounts,
  type OutcomeCounts,
  type SignalCounts,
  type Tables,
  type TagCounts,
  type TagSignalCounts,
  type UpsertSpec,
  upsertInto,
} from '../store/index.ts'

/** Bucket lengths of the rollups, in seconds. */
export const GRAIN = { minute: 60, hour: 3_600, day: 86_400 } as const

export const OUTCOMES = ['success', 'failure', 'timeout', 'exception'] as const satisfies (keyof OutcomeCounts)[]
export type Outcome = (typeof OUTCOMES)[number]

/** Upper bounds (inclusive, ms) of the histogram's buckets; the last bucket holds everything above. */
export const LATENCY_BOUNDS_MS = [10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000] as const

export const LATENCY_COLUMNS = [
  'le_10',
  'le_25',
  'le_50',
  'le_100',
  'le_250',
  'le_500',
  'le_1000',
  'le_2500',
  'le_5000',
  'over_5000',
] as const satisfies (keyof TagCounts)[]

export const TAG_COLUMNS = [
  ...OUTCOMES,
  'executions',
  'total_ms',
  'timed',
  ...LATENCY_COLUMNS,
] as const satisfies (keyof TagCounts)[]

export const EVENT_COLUMNS = [
  'events',
  'total',
  'skewed',
  'user_data_total',
  'email',
  'phone',
  'address',
  'user_data_detail_total',
  'first_name',
  'last_name',
  'city',
  'country',
  'ecommerce_total',
  'value',
  'currency',
  'transaction_id',
  'items',
] as const satisfies (keyof EventCounts)[]

/** The columns of three groups, each out of the events that its `_total` counts. Their order is the journal's too: change none. */
export const CONSENT_COLUMNS = [
  'ad_storage_granted',
  'ad_storage_denied',
  'analytics_storage_granted',
  'analytics_storage_denied',
  'ad_user_data_granted',
  'ad_user_data_denied',
  'ad_personalization_granted',
  'ad_personalization_denied',
  'update_known',
  'never_updated',
  'dma',
] as const satisfies (keyof SignalCounts)[]

export const IDENTIFIER_COLUMNS = [
  'event_id',
  'client_id',
  'fbp',
  'fbc',
  'click_id',
  'ip',
  'user_agent',
] as const satisfies (keyof SignalCounts)[]

export const VALIDITY_COLUMNS = [
  'value_zero',
  'value_invalid',
  'currency_invalid',
  'transaction_duplicate',
  'items_empty',
] as const satisfies (keyof SignalCounts)[]

/** In the order of the journal, which refers to them by place: only add at the end. */
export const SIGNAL_COLUMNS = [
  'consent_total',
  ...CONSENT_COLUMNS,
  'identifiers_total',
  ...IDENTIFIER_COLUMNS,
  'validity_total',
  ...VALIDITY_COLUMNS,
  'weight_excess',
] as const satisfies (keyof SignalCounts)[]

/** How vendors answered a tag. */
export const RESPONSE_COLUMNS = [
  'response_2xx',
  'response_3xx',
  'response_4xx',
  'response_5xx',
  'response_none',
] as const satisfies (keyof TagSignalCounts)[]

/** In the order of the journal as well: only add at the end. */
export const TAG_SIGNAL_COLUMNS = [
  'consent_total',
  'ad_storage_denied',
  'analytics_storage_denied',
  ...RESPONSE_COLUMNS,
] as const satisfies (keyof TagSignalCounts)[]

/** Counts of a site's own parameter on an event. */
export const FIELD_COLUMNS = ['present', 'total'] as const satisfies (keyof FieldCounts)[]

/** Distinct event names, and as many tag keys, that a site may use on one UTC day; further ones count as `(other)`. */
export const NAMES_PER_DAY = 500
/** Containers that a site may use on one UTC day; further ones count as `(other)`. */
export const CONTAINERS_PER_DAY = 50
/**
 * A site's own parameters on one UTC day, counted for each event that names them; further ones count as `(other)` of their event.
 * The cap is on pairs and not on names, because every pair is a row in each minute.
 */
export const FIELDS_PER_DAY = 1_000
/** Container versions recorded for a site on one UTC day. */
export const VERSIONS_PER_DAY = 50
/** Container clients recorded for a site on one UTC day. */
export const CLIENTS_PER_DAY = 50
/** Links of tag ids to names recorded for a site on one UTC day; further ids are still counted under their name. */
export const LINKS_PER_DAY = 1_000

/** The name that everything past a daily cap is counted under. */
export const OTHER = '(other)'

/** The event name of rows for what a batch reports without naming an event. */
export const NO_EVENT = ''

/**
 * False for `OTHER`, which contains different names each day, and for `NO_EVENT`: neither says anything about one event or tag.
 */
export const isNamed = (name: string): boolean => name !== NO_EVENT && name !== OTHER

export const dirtyBuckets: UpsertSpec = upsertInto('dirty_buckets', {
  keys: ['site_no', 'grain', 'bucket'],
  sums: ['writes'],
})
/**
 * What one write adds to the `writes` of a dirty bucket. Random, because another node may clear the bucket and as many folds may
 * make it dirty again: a mere count would then look unchanged.
 */
export const oneWrite = (): number => 1 + Math.floor(Math.random() * 1_048_576)
export const siteContainers: UpsertSpec = upsertInto('site_containers', {
  keys: ['site_no', 'container_id'],
  sums: ['writes'],
  maxima: ['last_seen_at'],
})
export const containerVersions: UpsertSpec = upsertInto('container_versions', {
  keys: ['site_no', 'container_id', 'version', 'environment'],
  fixed: ['first_seen_at'],
  maxima: ['last_seen_at'],
})
export const containerClients: UpsertSpec = upsertInto('container_clients', {
  keys: ['site_no', 'container_id', 'client_name'],
  fixed: ['first_seen_at'],
  maxima: ['last_seen_at'],
})
export const tagNames: UpsertSpec = upsertInto('tag_names', {
  keys: ['site_no', 'container_id', 'tag_id', 'tag_name'],
  maxima: ['last_seen_at'],
})
export const dailyNames: UpsertSpec = upsertInto('daily_names', { keys: ['site_no', 'day', 'kind', 'name'] })
export const clientUsage: UpsertSpec = upsertInto('client_usage', {
  keys: ['client_id', 'month'],
  sums: ['events', 'requests'],
})

/** The tables whose rows exist at several grains. */
export type RollupTable = Extract<
  keyof Tables,
  'event_rollups' | 'tag_rollups' | 'event_tag_rollups' | 'signal_rollups' | 'tag_signal_rollups' | 'field_rollups'
>

/** What tells a table's rows of one bucket and container apart. */
export const NAME_COLUMNS = {
  event_rollups: ['event_name'],
  tag_rollups: ['tag_key'],
  event_tag_rollups: ['event_name', 'tag_key'],
  signal_rollups: ['event_name'],
  tag_signal_rollups: ['tag_key'],
  field_rollups: ['event_name', 'field'],
} as const

export const COUNT_COLUMNS: Record<RollupTable, readonly string[]> = {
  event_rollups: EVENT_COLUMNS,
  tag_rollups: TAG_COLUMNS,
  event_tag_rollups: OUTCOMES,
  signal_rollups: SIGNAL_COLUMNS,
  tag_signal_rollups: TAG_SIGNAL_COLUMNS,
  field_rollups: FIELD_COLUMNS,
}

/** Tables that counts are folded into by the minute; the others begin with the hour. */
export const MINUTE_TABLES = [
  'event_rollups',
  'tag_rollups',
  'signal_rollups',
  'tag_signal_rollups',
  'field_rollups',
] as const satisfies RollupTable[]
