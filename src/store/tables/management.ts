import type { Generated, Selectable } from 'kysely'

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
  /** Whether to notify when an alert is resolved, and when one becomes critical. */
  notify_resolved: Generated<number>
  notify_escalated: Generated<number>
  /** `off`, `daily` or `weekly`. */
  digest: Generated<string>
  /** `HH:MM` in the sites' local time, both or neither. */
  quiet_from: Generated<string | null>
  quiet_to: Generated<string | null>
  created_at: number
}

export interface SiteTable {
  /** Never assigned again, so that a late row of a deleted site cannot appear under a new one. */
  site_no: Generated<number>
  id: string
  client_id: string
  name: string
  url: string
  /** The newest valid key of `site_keys`; if none is valid, the one that ended last. */
  ingest_key: string
  is_active: number
  /** From when on no key of the site is valid, possibly in the future; null: at least one has no end. */
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
  /** In `currency` (ISO 4217); null: unknown. */
  average_order_value: number | null
  currency: string | null
  /** Percentage of the time that should be without a critical problem; null: no target. */
  slo_target: Generated<number | null>
  created_at: number
}

/** A key with which a site's senders authenticate, or once did. */
export interface SiteKeyTable {
  /** A site's first key has the site's id; later ones begin with the time. */
  id: string
  site_id: string
  name: string
  /** 32 random bytes, base64url. */
  ingest_key: string
  created_at: number
  /** When it ends because another has replaced it. */
  expires_at: number | null
  revoked_at: number | null
}

/** When requests last came with a key. By site number, so that it is removed with the site's telemetry. */
export interface SiteKeyUseTable {
  site_no: number
  key_id: string
  last_used_at: number
}

export interface AuditTable {
  id: Generated<number>
  at: number
  actor: string
  /** `entity.verb`, as in `site.update`. */
  action: string
  entity: string
  entity_id: string
  /** JSON of the changed fields, secrets masked; null on creation. */
  before: string | null
  /** JSON of the changed fields, secrets masked; null on deletion. */
  after: string | null
  /** The client concerned; null: none, or unknown because the change is older than this column. */
  client_id: Generated<string | null>
}

/** A create that was sent with an `Idempotency-Key`. */
export interface CreateKeyTable {
  /** A hash of the caller and the key. */
  id: string
  /** A hash of the key and the whole request. */
  fingerprint: string
  /** As in the audit log's entry. */
  action: string
  entity_id: string
  /** Encrypted with the key; null: not answered yet, or never. */
  answer: string | null
  created_at: number
}

/** A deleted site whose telemetry rows are still being removed. */
export interface SiteRemovalTable {
  site_no: number
  requested_at: number
  /** When a pass last found nothing left. The row is deleted a day later, when no late row can come any more. */
  emptied_at: number | null
}

/** A page of the dashboard with its filters, saved by someone. */
export interface SavedViewTable {
  /** Begins with the time. */
  id: string
  name: string
  path: string
  created_at: number
  created_by: string
  /** The only user or API token that sees it; null: everyone who sees every client. */
  owner_id: Generated<string | null>
}

/** An address that digests of a client were sent to. */
export interface DigestReaderTable {
  /** Begins with the time. */
  id: string
  client_id: string
  /** As mail servers see it. */
  email: string
  /** Part of the links in its digests: stops and resumes them for this address, and nothing else. */
  secret: string
  created_at: number
  /** Since when it gets none; null: it gets them. */
  opted_out_at: number | null
}

/** Quota messages sent to clients. */
export interface QuotaMessageTable {
  client_id: string
  /** UTC, as in `client_usage`. */
  month: number
  /** In events; part of the key, so that a client with a new, larger quota is warned about that one too. */
  quota: number
  /** Percentage: 80 or 100. */
  step: number
  written_at: number
}

export type ClientRow = Selectable<ClientTable>
export type SiteRow = Selectable<SiteTable>
export type SiteKeyRow = Selectable<SiteKeyTable>
/** Days of a site that people marked as special. */
export interface SpecialDayTable {
  /** Begins with the time. */
  id: string
  site_id: string
  /** Calendar days in the site's time zone, `YYYY-MM-DD`, including the last. */
  first_day: string
  last_day: string
  note: string | null
  created_at: number
  created_by: string
}

/** A tag's vendor, set where its name does not reveal it. */
export interface TagVendorTable {
  site_id: string
  /** As reports name the tag. */
  tag_key: string
  /** The id of a known vendor, or another name. */
  vendor: string
  created_at: number
  created_by: string
}

/** A site's calendar day in its time zone, written once when the day is over: each of its milliseconds counts in one of five columns. */
export interface SiteDayTable {
  site_id: string
  /** `YYYY-MM-DD`. */
  day: string
  ok_ms: number
  warning_ms: number
  critical_ms: number
  maintenance_ms: number
  /** Not watched, not judged, or we were down. */
  unknown_ms: number
  /** Executions of its tags, and successful ones; null when that day's counts were no longer kept. */
  executions: number | null
  successes: number | null
  written_at: number
}

/** A deleted probe, kept until all days of its site that need its results are written. */
export interface RemovedProbeTable {
  id: string
  site_id: string
  probe_type: string
  interval_seconds: number
  removed_at: number
}

export type SiteDayRow = Selectable<SiteDayTable>
export type TagVendorRow = Selectable<TagVendorTable>
export type SpecialDayRow = Selectable<SpecialDayTable>

/** Something that happened at a moment, recorded by people or pipelines and drawn on charts. */
export interface AnnotationTable {
  /** Begins with the time at which it was written. */
  id: string
  client_id: string
  /** Null: all sites of the client. */
  site_id: string | null
  at: number
  text: string
  url: string | null
  created_at: number
  created_by: string
}

export type AnnotationRow = Selectable<AnnotationTable>
export type DigestReaderRow = Selectable<DigestReaderTable>
export type SavedViewRow = Selectable<SavedViewTable>
