-- Written by `npm run docs` from a freshly migrated database; change it by a migration.

CREATE TABLE alert_events (
  alert_id text not null,
  id text not null,
  at integer not null,
  kind text not null,
  actor text,
  text text not null,
  primary key (alert_id, id)
) without rowid;

CREATE TABLE alert_feedback (
  alert_id text primary key,
  site_id text not null,
  event_name text,
  verdict text not null,
  began_at integer not null,
  ended_at integer,
  given_at integer not null,
  given_by text not null
);

CREATE TABLE alerts (
  id text primary key,
  client_id text not null,
  site_id text not null,
  probe_id text not null,
  probe_type text not null,
  subject text not null,
  severity text not null,
  severity_since integer not null,
  state text not null,
  title text not null,
  message text not null,
  details text not null,
  opened_at integer not null,
  last_seen_at integer not null,
  occurrences integer not null,
  confirmed_at integer,
  acknowledged_at integer,
  acknowledged_by text,
  resolved_at integer,
  resolution text,
  suppressed_by text,
  is_flapping integer not null,
  first_notified_at integer,
  last_notified_at integer,
  notified_severity text
  , subject_label text, started_at integer not null default 0, announced_at integer, last_announced_at integer, bad_events text not null default '[]', told_events integer not null default 0, incident_id text, vendor text);

CREATE TABLE annotations (
  id text primary key,
  client_id text not null,
  site_id text,
  at integer not null,
  text text not null,
  url text,
  created_at integer not null,
  created_by text not null
);

CREATE TABLE announced_incidents (
  id text primary key,
  client_id text not null,
  site_id text not null,
  title text not null,
  turns text not null,
  changed_at integer not null
);

CREATE TABLE announced_maintenance (
  id text primary key,
  client_id text not null,
  site_id text,
  kind text not null,
  starts_at integer,
  ends_at integer,
  weekdays text,
  start text,
  duration_minutes integer,
  timezone text,
  is_planned integer not null,
  planned_at integer not null,
  changed_at integer not null
);

CREATE TABLE api_tokens (
  id text primary key,
  name text not null,
  token_hash text not null unique,
  hint text not null,
  role text not null,
  client_ids text,
  created_at integer not null,
  created_by text not null,
  expires_at integer,
  last_used_at integer
);

CREATE TABLE audit_log (
  id integer primary key autoincrement,
  at integer not null,
  actor text not null,
  action text not null,
  entity text not null,
  entity_id text not null,
  before text,
  after text
  , client_id text);

CREATE TABLE canary_arrivals (
  site_no integer not null,
  event_name text not null,
  arrived_at integer not null,
  is_batched integer not null,
  tags text not null,
  primary key (site_no, event_name)
) without rowid;

CREATE TABLE channels (
  channel text primary key,
  address text not null,
  claimed_by text,
  claimed_at integer,
  next_attempt_at integer not null,
  failures integer not null,
  failing_since integer,
  last_error text,
  last_success_at integer,
  off_since integer
);

CREATE TABLE client_channels (
  id text primary key,
  client_id text not null,
  kind text not null,
  name text not null,
  address text not null,
  minimum_severity text not null,
  is_active integer not null,
  created_at integer not null
  , warnings_after_minutes integer);

CREATE TABLE client_demand (
  client_id text not null,
  node_id text not null,
  measured_at integer not null,
  requests_per_second integer not null,
  primary key (client_id, node_id)
) without rowid;

CREATE TABLE client_usage (
  client_id text not null,
  month integer not null,
  events integer not null,
  requests integer not null,
  primary key (client_id, month)
) without rowid;

CREATE TABLE clients (
  id text primary key,
  name text not null,
  email text,
  chat_webhook text,
  is_active integer not null,
  plan text not null,
  requests_per_second integer,
  events_per_month integer,
  reminder_minutes integer,
  created_at integer not null
  , notify_resolved integer not null default 1, notify_escalated integer not null default 1, digest text not null default 'off', quiet_from text, quiet_to text);

CREATE TABLE clock_checks (
  id integer primary key,
  checked_at integer not null,
  careful_until integer,
  slack_ms integer,
  doubt text
);

CREATE TABLE container_clients (
  site_no integer not null,
  container_id text not null,
  client_name text not null,
  first_seen_at integer not null,
  last_seen_at integer not null,
  primary key (site_no, container_id, client_name)
) without rowid;

CREATE TABLE container_versions (
  site_no integer not null,
  container_id text not null,
  version text not null,
  environment text not null,
  first_seen_at integer not null,
  last_seen_at integer not null,
  primary key (site_no, container_id, version, environment)
) without rowid;

CREATE TABLE create_keys (
  id text primary key,
  fingerprint text not null,
  action text not null,
  entity_id text not null,
  answer text,
  created_at integer not null
);

CREATE TABLE daily_names (
  site_no integer not null,
  day integer not null,
  kind text not null,
  name text not null,
  primary key (site_no, day, kind, name)
) without rowid;

CREATE TABLE deliveries (
  id text primary key,
  channel text not null,
  client_id text,
  alert_id text,
  kind text not null,
  message text not null,
  state text not null,
  created_at integer not null,
  not_before integer not null,
  group_id text,
  attempts integer not null,
  last_attempt_at integer,
  last_error text,
  delivered_at integer
  , receipt text, given_up_at integer, incident_id text);

CREATE TABLE deploy_markers (
  site_id text not null,
  id text not null,
  at integer not null,
  source text not null,
  from_version text,
  to_version text not null,
  details text not null,
  primary key (site_id, id)
);

CREATE TABLE digest_readers (
  id text primary key,
  client_id text not null,
  email text not null,
  secret text not null unique,
  created_at integer not null,
  opted_out_at integer,
  unique (client_id, email)
);

CREATE TABLE digests (
  client_id text not null,
  period_end integer not null,
  written_at integer not null,
  primary key (client_id, period_end)
) without rowid;

CREATE TABLE "dirty_buckets" (
  site_no integer not null,
  grain integer not null,
  bucket integer not null, writes integer not null default 0,
  primary key (site_no, grain, bucket)
) without rowid;

CREATE TABLE event_rollups (
  site_no integer not null,
  grain integer not null,
  bucket integer not null,
  container_id text not null,
  event_name text not null,
  events integer not null,
  total integer not null,
  skewed integer not null,
  user_data_total integer not null,
  email integer not null,
  phone integer not null,
  address integer not null,
  user_data_detail_total integer not null,
  first_name integer not null,
  last_name integer not null,
  city integer not null,
  country integer not null,
  ecommerce_total integer not null,
  value integer not null,
  currency integer not null,
  transaction_id integer not null,
  items integer not null,
  primary key (site_no, grain, bucket, container_id, event_name)
) without rowid;

CREATE TABLE event_tag_rollups (
  site_no integer not null,
  grain integer not null,
  bucket integer not null,
  container_id text not null,
  event_name text not null,
  tag_key text not null,
  success integer not null,
  failure integer not null,
  timeout integer not null,
  exception integer not null,
  primary key (site_no, grain, bucket, container_id, event_name, tag_key)
) without rowid;

CREATE TABLE field_rollups (
  site_no integer not null,
  grain integer not null,
  bucket integer not null,
  container_id text not null,
  event_name text not null,
  field text not null,
  present integer not null,
  total integer not null,
  primary key (site_no, grain, bucket, container_id, event_name, field)
) without rowid;

CREATE TABLE folds (
  node_id text primary key,
  last_seq integer not null,
  site_cursor integer not null
  , first_seq integer not null default 0);

CREATE TABLE idempotency_keys (
  site_no integer not null,
  idempotency_key text not null,
  accepted_at integer not null,
  primary key (site_no, idempotency_key)
) without rowid;

CREATE TABLE identity_roles (
  identity_id text not null,
  client_id text not null,
  role text not null,
  primary key (identity_id, client_id)
);

CREATE TABLE incident_events (
  incident_id text not null,
  id text not null,
  at integer not null,
  kind text not null,
  actor text,
  text text not null,
  primary key (incident_id, id)
) without rowid;

CREATE TABLE incident_notes (
  incident_id text not null,
  id text not null,
  at integer not null,
  author text not null,
  text text not null,
  primary key (incident_id, id)
) without rowid;

CREATE TABLE incidents (
  id text primary key,
  scope text not null,
  client_id text,
  site_id text,
  cause text not null,
  cause_at integer,
  vendor text,
  title text not null,
  severity text not null,
  state text not null,
  started_at integer not null,
  opened_at integer not null,
  announced_at integer,
  last_announced_at integer,
  last_notified_at integer,
  notified_severity text,
  announced_alert_id text,
  acknowledged_at integer,
  acknowledged_by text,
  resolved_at integer,
  lead_alert_id text,
  parent_id text,
  impact text
  , impact_due integer);

CREATE TABLE journal (
  node_id text not null,
  seq integer not null,
  written_at integer not null,
  payload text not null,
  primary key (node_id, seq)
);

CREATE TABLE "kysely_migration" ("name" varchar(255) not null primary key, "timestamp" varchar(255) not null);

CREATE TABLE "kysely_migration_lock" ("id" varchar(255) not null primary key, "is_locked" integer default 0 not null);

CREATE TABLE leases (
  name text primary key,
  node_id text not null,
  claimed_at integer not null
);

CREATE TABLE listening (
  id integer primary key,
  listened_until integer not null
);

CREATE TABLE maintenance (
  id text primary key,
  client_id text,
  site_id text,
  probe_id text,
  title text not null,
  kind text not null,
  is_active integer not null,
  starts_at integer,
  ends_at integer,
  weekdays text,
  start text,
  duration_minutes integer,
  timezone text,
  created_at integer not null,
  created_by text not null
);

CREATE TABLE minute_floors (
  site_no integer primary key,
  gone_before integer not null,
  clearing integer
  , fives_before integer);

CREATE TABLE minute_parts (
  site_no integer not null,
  bucket integer not null,
  container_id text not null,
  part integer not null,
  events text,
  tags text,
  event_tags text,
  signals text,
  tag_signals text,
  fields text,
  primary key (site_no, bucket, container_id, part)
);

CREATE TABLE nodes (
  id text primary key,
  name text not null,
  role text not null,
  version text not null,
  started_at integer not null,
  seen_at integer not null
);

CREATE TABLE on_call_escalations (
  incident_id text primary key,
  steps integer not null,
  last_at integer not null
  , notified text, announced_at integer);

CREATE TABLE on_call_overrides (
  id text primary key,
  client_id text not null,
  person_id text not null,
  starts_at integer not null,
  ends_at integer not null,
  created_by text not null
);

CREATE TABLE on_call_rotations (
  client_id text primary key,
  people text not null,
  people_count integer not null,
  timezone text not null,
  handover_weekday integer not null,
  handover_time text not null,
  starts_on text not null,
  escalate_after_minutes integer
);

CREATE TABLE outages (
  began_at integer primary key,
  ended_at integer not null
);

CREATE TABLE probe_results (
  probe_id text not null,
  id text not null,
  status text not null,
  message text not null,
  response_time_ms integer,
  details text not null,
  attempts integer not null,
  executed_at integer not null, maintenance_id text, reason text,
  primary key (probe_id, id)
) without rowid;

CREATE TABLE probes (
  id text primary key,
  site_id text not null,
  probe_type text not null,
  name text not null,
  config text not null,
  interval_seconds integer not null,
  timeout_ms integer not null,
  failure_threshold integer not null,
  recovery_threshold integer not null,
  is_active integer not null,
  created_at integer not null,
  next_run_at integer not null,
  claimed_by text,
  claimed_at integer,
  last_status text,
  last_message text,
  last_response_time_ms integer,
  last_result_at integer,
  consecutive_failures integer not null,
  memory text not null
  , recent_statuses text not null default '', last_reason text, subject_statuses text not null default '{}', due_at integer, lost_runs integer not null default 0, results_thinned_to integer not null default 0);

CREATE TABLE pushes (
  probe_id text primary key,
  token text not null,
  token_hash text not null unique,
  made_at integer not null,
  last_at integer,
  last_status text,
  last_message text,
  status_since integer,
  started_at integer,
  duration_ms integer,
  run_asked_at integer
);

CREATE TABLE quota_messages (
  client_id text not null,
  month integer not null,
  quota integer not null,
  step integer not null,
  written_at integer not null,
  primary key (client_id, month, quota, step)
) without rowid;

CREATE TABLE recent_payloads (
  site_no integer not null,
  id integer not null,
  accepted_at integer not null,
  payload text not null,
  primary key (site_no, id)
) without rowid;

CREATE TABLE reference_counts (
  site_no integer not null,
  source text not null,
  event_name text not null,
  bucket integer not null,
  total integer not null,
  primary key (site_no, source, event_name, bucket)
)without rowid;

CREATE TABLE rejection_counts (
  site_no integer not null,
  bucket integer not null,
  reason text not null,
  total integer not null,
  primary key (site_no, bucket, reason)
) without rowid;

CREATE TABLE rejections (
  site_no integer not null,
  id integer not null,
  rejected_at integer not null,
  reason text not null,
  path text not null,
  primary key (site_no, id)
) without rowid;

CREATE TABLE removed_probes (
  id text primary key,
  site_id text not null,
  probe_type text not null,
  interval_seconds integer not null,
  removed_at integer not null
);

CREATE TABLE saved_views (
  id text primary key,
  name text not null,
  path text not null,
  created_at integer not null,
  created_by text not null
  , owner_id text);

CREATE TABLE sign_ins (
  id text primary key,
  role text not null,
  token_print text not null,
  expires_at integer not null
  , user_id text, public_id text, created_at integer, last_seen_at integer, agent text, identity_id text, sign_out_hint text);

CREATE TABLE signal_rollups (
  site_no integer not null,
  grain integer not null,
  bucket integer not null,
  container_id text not null,
  event_name text not null,
  consent_total integer not null,
  ad_storage_granted integer not null,
  ad_storage_denied integer not null,
  analytics_storage_granted integer not null,
  analytics_storage_denied integer not null,
  ad_user_data_granted integer not null,
  ad_user_data_denied integer not null,
  ad_personalization_granted integer not null,
  ad_personalization_denied integer not null,
  update_known integer not null,
  never_updated integer not null,
  dma integer not null, identifiers_total integer not null default 0, event_id integer not null default 0, client_id integer not null default 0, fbp integer not null default 0, fbc integer not null default 0, click_id integer not null default 0, ip integer not null default 0, user_agent integer not null default 0, validity_total integer not null default 0, value_zero integer not null default 0, value_invalid integer not null default 0, currency_invalid integer not null default 0, transaction_duplicate integer not null default 0, items_empty integer not null default 0, weight_excess integer not null default 0,
  primary key (site_no, grain, bucket, container_id, event_name)
) without rowid;

CREATE TABLE silences (
  id text primary key,
  client_id text,
  site_id text,
  probe_id text,
  starts_at integer not null,
  ends_at integer not null,
  comment text,
  created_at integer not null,
  created_by text not null
  , subject_key text, subject_label text, until_resolved integer not null default 0, incident_id text);

CREATE TABLE site_containers (
  site_no integer not null,
  container_id text not null,
  last_seen_at integer not null, writes integer not null default 0,
  primary key (site_no, container_id)
) without rowid;

CREATE TABLE site_days (
  site_id text not null,
  day text not null,
  ok_ms integer not null,
  warning_ms integer not null,
  critical_ms integer not null,
  maintenance_ms integer not null,
  unknown_ms integer not null,
  executions integer,
  successes integer,
  written_at integer not null,
  primary key (site_id, day)
)without rowid;

CREATE TABLE site_key_uses (
  site_no integer not null,
  key_id text not null,
  last_used_at integer not null,
  primary key (site_no, key_id)
) without rowid;

CREATE TABLE site_keys (
  id text primary key,
  site_id text not null,
  name text not null,
  ingest_key text not null unique,
  created_at integer not null,
  expires_at integer,
  revoked_at integer
);

CREATE TABLE site_removals (
  site_no integer primary key,
  requested_at integer not null,
  emptied_at integer
);

CREATE TABLE sites (
  site_no integer primary key autoincrement,
  id text not null unique,
  client_id text not null references clients (id) on delete cascade,
  name text not null,
  url text not null,
  ingest_key text not null unique,
  is_active integer not null,
  key_revoked_at integer,
  timezone text not null,
  tag_server_url text,
  tag_manager_web_container_id text,
  tag_manager_server_container_id text,
  analytics_property_id text,
  analytics_measurement_id text,
  warehouse_project text,
  warehouse_dataset text,
  hosting_a_container_id text,
  hosting_b_container_id text,
  cmp_provider text,
  created_at integer not null
  , average_order_value double precision, currency text, slo_target double precision);

CREATE TABLE special_days (
  id text primary key,
  site_id text not null,
  first_day text not null,
  last_day text not null,
  note text,
  created_at integer not null,
  created_by text not null
);

CREATE TABLE status_links (
  client_id text primary key,
  token text not null unique,
  created_at integer not null,
  created_by text not null
);

CREATE TABLE status_looks (
  client_id text primary key,
  accent text,
  logo text,
  logo_type text
);

CREATE TABLE status_subscribers (
  id text primary key,
  client_id text not null,
  token text not null,
  email text not null,
  secret text not null unique,
  created_at integer not null,
  asked_at integer,
  confirmed_at integer,
  notified_until integer not null,
  next_mail_at integer not null,
  failures integer not null,
  unique (client_id, email)
);

CREATE TABLE tag_names (
  site_no integer not null,
  container_id text not null,
  tag_id text not null,
  tag_name text not null,
  last_seen_at integer not null,
  primary key (site_no, container_id, tag_id, tag_name)
) without rowid;

CREATE TABLE tag_rollups (
  site_no integer not null,
  grain integer not null,
  bucket integer not null,
  container_id text not null,
  tag_key text not null,
  success integer not null,
  failure integer not null,
  timeout integer not null,
  exception integer not null,
  executions integer not null,
  total_ms integer not null,
  timed integer not null,
  le_10 integer not null,
  le_25 integer not null,
  le_50 integer not null,
  le_100 integer not null,
  le_250 integer not null,
  le_500 integer not null,
  le_1000 integer not null,
  le_2500 integer not null,
  le_5000 integer not null,
  over_5000 integer not null,
  primary key (site_no, grain, bucket, container_id, tag_key)
) without rowid;

CREATE TABLE tag_signal_rollups (
  site_no integer not null,
  grain integer not null,
  bucket integer not null,
  container_id text not null,
  tag_key text not null,
  consent_total integer not null,
  ad_storage_denied integer not null,
  analytics_storage_denied integer not null, response_2xx integer not null default 0, response_3xx integer not null default 0, response_4xx integer not null default 0, response_5xx integer not null default 0, response_none integer not null default 0,
  primary key (site_no, grain, bucket, container_id, tag_key)
) without rowid;

CREATE TABLE tag_vendors (
  site_id text not null,
  tag_key text not null,
  vendor text not null,
  created_at integer not null,
  created_by text not null,
  primary key (site_id, tag_key)
);

CREATE TABLE user_identities (
  id text primary key,
  user_id text not null,
  issuer text not null,
  subject text not null,
  created_at integer not null,
  unique (issuer, subject)
);

CREATE TABLE user_links (
  id text primary key,
  user_id text not null,
  created_at integer not null,
  expires_at integer not null
);

CREATE TABLE user_recovery_codes (
  id text primary key,
  user_id text not null,
  created_at integer not null
);

CREATE TABLE user_roles (
  user_id text not null,
  client_id text not null,
  role text not null,
  primary key (user_id, client_id)
);

CREATE TABLE user_two_steps (
  user_id text primary key,
  secret text not null,
  created_at integer not null,
  confirmed_at integer,
  last_step integer not null,
  failures integer not null,
  failed_at integer not null
);

CREATE TABLE users (
  id text primary key,
  email text not null,
  email_key text not null unique,
  name text not null,
  password_hash text,
  created_at integer not null,
  created_by text not null,
  last_sign_in_at integer,
  disabled_at integer
);

CREATE TABLE write_checks (
  id integer primary key,
  checked_at integer not null
);

CREATE INDEX alert_feedback_by_site on alert_feedback (site_id);

CREATE INDEX alerts_by_client on alerts (client_id, id);

CREATE INDEX alerts_by_end on alerts (resolved_at, id);

CREATE INDEX alerts_by_incident on alerts (incident_id);

CREATE INDEX alerts_by_probe on alerts (probe_id, id);

CREATE INDEX alerts_by_site on alerts (site_id, id);

CREATE UNIQUE INDEX alerts_unresolved on alerts (probe_id, subject) where state <> 'resolved';

CREATE INDEX alerts_unresolved_by_id on alerts (id) where state <> 'resolved';

CREATE INDEX alerts_unresolved_by_site on alerts (site_id) where state <> 'resolved';

CREATE INDEX annotations_by_client on annotations (client_id, at);

CREATE INDEX annotations_by_site on annotations (site_id);

CREATE INDEX audit_log_by_actor on audit_log (actor, id);

CREATE INDEX audit_log_by_client on audit_log (client_id, id);

CREATE INDEX audit_log_by_entity on audit_log (entity_id, id);

CREATE INDEX audit_log_by_time on audit_log (at);

CREATE INDEX client_channels_by_client on client_channels (client_id, id);

CREATE INDEX create_keys_by_age on create_keys (created_at);

CREATE INDEX deliveries_by_alert on deliveries (alert_id, id);

CREATE INDEX deliveries_by_client on deliveries (client_id, id);

CREATE INDEX deliveries_by_incident on deliveries (incident_id, id) where incident_id is not null;

CREATE INDEX deliveries_failed on deliveries (id) where state = 'failed';

CREATE INDEX deliveries_pending on deliveries (channel, id) where state = 'pending';

CREATE INDEX deliveries_pending_by_id on deliveries (id) where state = 'pending';

CREATE INDEX dirty_buckets_by_bucket on dirty_buckets (grain, bucket);

CREATE INDEX idempotency_keys_by_time on idempotency_keys (accepted_at);

CREATE INDEX identity_roles_by_client on identity_roles (client_id);

CREATE INDEX incidents_by_announced on incidents (announced_alert_id);

CREATE INDEX incidents_by_client on incidents (client_id, id);

CREATE INDEX incidents_by_end on incidents (resolved_at, id);

CREATE INDEX incidents_by_impact_due on incidents (impact_due) where impact_due is not null;

CREATE INDEX incidents_by_parent on incidents (parent_id);

CREATE INDEX incidents_by_site on incidents (site_id, id);

CREATE INDEX incidents_unresolved on incidents (site_id) where state <> 'resolved';

CREATE INDEX incidents_unresolved_by_id on incidents (id) where state <> 'resolved';

CREATE INDEX on_call_overrides_by_client on on_call_overrides (client_id);

CREATE INDEX probes_by_site on probes (site_id);

CREATE INDEX probes_due on probes (next_run_at) where is_active = 1;

CREATE INDEX reference_counts_by_age on reference_counts (site_no, bucket);

CREATE INDEX removed_probes_by_site on removed_probes (site_id);

CREATE INDEX silences_by_end on silences (ends_at);

CREATE INDEX site_days_by_day on site_days (day);

CREATE INDEX site_keys_by_site on site_keys (site_id);

CREATE INDEX sites_by_client on sites (client_id);

CREATE INDEX special_days_by_site on special_days (site_id);

CREATE INDEX user_identities_by_user on user_identities (user_id);

CREATE INDEX user_recovery_codes_by_user on user_recovery_codes (user_id);

CREATE INDEX user_roles_by_client on user_roles (client_id);
