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
  /** Whether to notify when an alert is resolved, and when one has become critical. */
  notify_resolved: Generated<number>
  notify_escalated: Generated<number>
  /** `off`, `daily` or `weekly`. */
  digest: Generated<string>
  /** `HH:MM` of the sites' local time, both or neither. */
  quiet_from: Generated<string | null>
  quiet_to: Generated<string | null>
  created_at: number
}

export interface SiteTable {
  /** Never given out again, so that a straggling row of a deleted site cannot turn up under a new one. */
  site_no: Generated<number>
  id: string
  client_id: string
  name: string
  url: string
  /** The newest valid key of `site_keys`; where none is valid, the one that ended last. */
  ingest_key: string
  is_active: number
  /** From when on no key of the site is valid, which may lie ahead; null: one has no end. */
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
  /** Of an order, in `currency` (ISO 4217); null: not known. */
  average_order_value: number | null
  currency: string | null
  /** Percentage of the time that should be without a critical problem; null: no target. */
  slo_target: Generated<number | null>
  created_at: number
}

/** A key that a site's senders authenticate with, or did. */
export interface SiteKeyTable {
  /** Of later ones begins with the time; a site's first has the id of the site. */
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

/** When requests last came with a key; its site's number, so that it goes with the rest of what came. */
export interface SiteKeyUseTable {
  site_no: number
  key_id: string
  last_used_at: number
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
  /** Of which client it was; null: of none, or not known of what was changed before it was noted. */
  client_id: Generated<string | null>
}

/** What was created under an `Idempotency-Key`. */
export interface CreateKeyTable {
  /** A hash of the caller and the key. */
  id: string
  /** A hash of the key and all that the request says. */
  fingerprint: string
  /** As the audit log's entry has them. */
  action: string
  entity_id: string
  /** Sealed with the key; null: not answered yet, or never. */
  answer: string | null
  created_at: number
}

/** A deleted site whose telemetry rows are still being removed. */
export interface SiteRemovalTable {
  site_no: number
  requested_at: number
  /** When a pass last found nothing left; the row goes a day after, when no straggler can come any more. */
  emptied_at: number | null
}

/** The address under which a client's status can be seen without a key. */
export interface StatusLinkTable {
  client_id: string
  /** 32 random bytes, base64url. */
  token: string
  created_at: number
  created_by: string
}

/** A page of the dashboard with its filters, which someone saved for everyone. */
export interface SavedViewTable {
  /** Begins with the time. */
  id: string
  name: string
  path: string
  created_at: number
  created_by: string
  /** The user or API token that sees it alone; null: everyone who sees every client. */
  owner_id: Generated<string | null>
}

/** Someone who gets e-mail about the incidents of a status page. Times in epoch ms. */
export interface StatusSubscriberTable {
  /** Begins with the time. */
  id: string
  client_id: string
  /** Of the status page it was asked for on: with another link, or none, nothing is sent. */
  token: string
  /** In lower case. */
  email: string
  /** In the links of its e-mails: opens this subscription and nothing else. */
  secret: string
  created_at: number
  /** When the e-mail that asks to confirm was sent; null: it is due. */
  asked_at: number | null
  confirmed_at: number | null
  /** What was seen of an incident until then has been sent, or was before the subscription. */
  notified_until: number
  next_mail_at: number
  /** In a row. */
  failures: number
}

/** How a client's status page looks. */
export interface StatusLooksTable {
  client_id: string
  /** `#rrggbb` */
  accent: string | null
  /** A picture as base64, and what it is by its own bytes. */
  logo: string | null
  logo_type: string | null
}

/** Quota messages that clients were sent. */
export interface QuotaMessageTable {
  client_id: string
  /** UTC, as in `client_usage`. */
  month: number
  /** Events: a client that gets a larger quota is warned of that one as well. */
  quota: number
  /** Per cent: 80 or 100. */
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
  /** Calendar days of the site's time zone, `YYYY-MM-DD`; the last one belongs to it. */
  first_day: string
  last_day: string
  note: string | null
  created_at: number
  created_by: string
}

/** Whose tag it is, where its name does not say. */
export interface TagVendorTable {
  site_id: string
  /** As reports name it. */
  tag_key: string
  /** The id of a known vendor, or another name. */
  vendor: string
  created_at: number
  created_by: string
}

/** What a site was on a calendar day of its time zone, written once when the day is over: each ms of it is one of the five. */
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
  /** Of its tags, and how many of them ended well; null where counts of that day were no longer kept. */
  executions: number | null
  successes: number | null
  written_at: number
}

/** A deleted probe, until no day of its site is unwritten that its results vouch for. */
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

/** What happened at a moment, as people or their pipelines say: charts draw it. */
export interface AnnotationTable {
  /** Begins with the time at which it was written. */
  id: string
  client_id: string
  /** Null: of all sites of the client. */
  site_id: string | null
  at: number
  text: string
  url: string | null
  created_at: number
  created_by: string
}

export type AnnotationRow = Selectable<AnnotationTable>
export type StatusSubscriberRow = Selectable<StatusSubscriberTable>
export type SavedViewRow = Selectable<SavedViewTable>
export type StatusLooksRow = Selectable<StatusLooksTable>
export type StatusLinkRow = Selectable<StatusLinkTable>
