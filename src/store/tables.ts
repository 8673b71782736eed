import type { Generated, Selectable } from 'kysely'

/**
 * The tables as both engines hold them. Times are epoch milliseconds, flags are 0 or 1, ids are UUID text, so that one
 * query text serves both engines. Every telemetry table starts its key with `site_no`, a site's small number: a row of
 * the rollups repeats it millions of times, and on PostgreSQL with Citus it is what the tables are distributed by.
 */
export interface Tables {
  clients: ClientTable
  sites: SiteTable
  audit_log: AuditTable
  site_removals: SiteRemovalTable
  journal: JournalTable
  folds: FoldTable
  idempotency_keys: IdempotencyKeyTable
  event_rollups: EventRollupTable
  tag_rollups: TagRollupTable
  event_tag_rollups: EventTagRollupTable
  rollup_marks: RollupMarkTable
  site_containers: SiteContainerTable
  tag_names: TagNameTable
  daily_names: DailyNameTable
  client_usage: ClientUsageTable
  recent_payloads: RecentPayloadTable
  rejections: RejectionTable
  rejection_counts: RejectionCountTable
  write_checks: WriteCheckTable
}

export interface ClientTable {
  id: string
  name: string
  email: string | null
  chat_webhook: string | null
  is_active: number
  plan: string
  requests_per_second: number | null
  events_per_month: number | null
  reminder_minutes: number | null
  created_at: number
}

export interface SiteTable {
  /** Never given out again, so that a straggling row of a deleted site cannot turn up under a new one. */
  site_no: Generated<number>
  id: string
  client_id: string
  name: string
  url: string
  ingest_key: string
  is_active: number
  key_revoked_at: number | null
  timezone: string
  tag_server_url: string | null
  tag_manager_web_container_id: string | null
  tag_manager_server_container_id: string | null
  analytics_property_id: string | null
  analytics_measurement_id: string | null
  warehouse_project: string | null
  warehouse_dataset: string | null
  hosting_a_container_id: string | null
  hosting_b_container_id: string | null
  cmp_provider: string | null
  created_at: number
}

export interface AuditTable {
  id: Generated<number>
  at: number
  actor: string
  /** `entity.verb`, e.g. `site.update`. */
  action: string
  entity: string
  entity_id: string
  /** JSON of the changed fields, secrets masked; null on creation. */
  before: string | null
  /** JSON of the changed fields, secrets masked; null on deletion. */
  after: string | null
}

/** A deleted site whose telemetry rows are still being removed. */
export interface SiteRemovalTable {
  site_no: number
  requested_at: number
  /** When a pass last found nothing left; the row goes a day after, when no straggler can come any more. */
  emptied_at: number | null
}

/** Accepted counts that are durable but not yet in the rollups: one row per group commit. */
export interface JournalTable {
  /** The process that wrote the row and will fold it while it lives. */
  node_id: string
  /** Counted up by that process, one a commit; a commit that failed leaves a gap. */
  seq: number
  written_at: number
  /** An encoded `Delta`. */
  payload: string
}

/** How far a node's fold that is cut into chunks has come. */
export interface FoldTable {
  node_id: string
  last_seq: number
  /** The highest `site_no` whose share of the rows up to `last_seq` is in the rollups. */
  site_cursor: number
}

export interface IdempotencyKeyTable {
  site_no: number
  idempotency_key: string
  accepted_at: number
}

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

/** Which tag ended how on which event: hours and days only, and only from per-event payloads. */
export interface EventTagRollupTable extends RollupKey, OutcomeCounts {
  event_name: string
  tag_key: string
}

/** Buckets of hours and days whose derived rows are out of date; reports read the finer rows there. */
export interface RollupMarkTable {
  site_no: number
  grain: number
  bucket: number
}

export interface SiteContainerTable {
  site_no: number
  container_id: string
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

/** Names admitted on a UTC day: what the cardinality cap is counted by. */
export interface DailyNameTable {
  site_no: number
  day: number
  /** `event` or `tag`. */
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

export interface RecentPayloadTable {
  site_no: number
  id: number
  accepted_at: number
  payload: string
}

export interface RejectionTable {
  site_no: number
  id: number
  rejected_at: number
  reason: string
  path: string
}

export interface RejectionCountTable {
  site_no: number
  /** Start of the UTC minute, epoch ms. */
  bucket: number
  reason: string
  total: number
}

/** One row, rewritten to learn whether the store takes writes. */
export interface WriteCheckTable {
  id: number
  checked_at: number
}

export type ClientRow = Selectable<ClientTable>
export type SiteRow = Selectable<SiteTable>
