import type { Migration } from './types.ts'

/** Clients, sites and audit; the journal; the rollups and what stands beside them. */
export const foundation: Migration = {
  name: '0001-foundation',
  statements: ({ integer, counter, identity, clustered }) => [
    `create table clients (
      id text primary key,
      name text not null,
      email text,
      chat_webhook text,
      is_active ${integer} not null,
      plan text not null,
      requests_per_second ${integer},
      events_per_month ${integer},
      reminder_minutes ${integer},
      created_at ${integer} not null
    )`,
    `create table sites (
      site_no ${identity},
      id text not null unique,
      client_id text not null references clients (id) on delete cascade,
      name text not null,
      url text not null,
      ingest_key text not null unique,
      is_active ${integer} not null,
      key_revoked_at ${integer},
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
      created_at ${integer} not null
    )`,
    'create index sites_by_client on sites (client_id)',
    `create table site_removals (
      site_no ${integer} primary key,
      requested_at ${integer} not null,
      emptied_at ${integer}
    )`,
    `create table audit_log (
      id ${identity},
      at ${integer} not null,
      actor text not null,
      action text not null,
      entity text not null,
      entity_id text not null,
      before text,
      after text
    )`,
    'create index audit_log_by_time on audit_log (at)',
    'create index audit_log_by_entity on audit_log (entity_id, id)',
    `create table client_usage (
      client_id text not null,
      month ${integer} not null,
      events ${counter} not null,
      requests ${counter} not null,
      primary key (client_id, month)
    ) ${clustered}`,

    `create table journal (
      node_id text not null,
      seq ${integer} not null,
      written_at ${integer} not null,
      payload text not null,
      primary key (node_id, seq)
    )`,
    `create table folds (
      node_id text primary key,
      last_seq ${integer} not null,
      site_cursor ${integer} not null
    )`,
    `create table idempotency_keys (
      site_no ${integer} not null,
      idempotency_key text not null,
      accepted_at ${integer} not null,
      primary key (site_no, idempotency_key)
    ) ${clustered}`,
    'create index idempotency_keys_by_time on idempotency_keys (accepted_at)',

    `create table event_rollups (
      site_no ${integer} not null,
      grain ${integer} not null,
      bucket ${integer} not null,
      container_id text not null,
      event_name text not null,
      events ${counter} not null,
      total ${counter} not null,
      skewed ${counter} not null,
      user_data_total ${counter} not null,
      email ${counter} not null,
      phone ${counter} not null,
      address ${counter} not null,
      user_data_detail_total ${counter} not null,
      first_name ${counter} not null,
      last_name ${counter} not null,
      city ${counter} not null,
      country ${counter} not null,
      ecommerce_total ${counter} not null,
      value ${counter} not null,
      currency ${counter} not null,
      transaction_id ${counter} not null,
      items ${counter} not null,
      primary key (site_no, grain, bucket, container_id, event_name)
    ) ${clustered}`,
    `create table tag_rollups (
      site_no ${integer} not null,
      grain ${integer} not null,
      bucket ${integer} not null,
      container_id text not null,
      tag_key text not null,
      success ${counter} not null,
      failure ${counter} not null,
      timeout ${counter} not null,
      exception ${counter} not null,
      executions ${counter} not null,
      total_ms ${counter} not null,
      timed ${counter} not null,
      le_10 ${counter} not null,
      le_25 ${counter} not null,
      le_50 ${counter} not null,
      le_100 ${counter} not null,
      le_250 ${counter} not null,
      le_500 ${counter} not null,
      le_1000 ${counter} not null,
      le_2500 ${counter} not null,
      le_5000 ${counter} not null,
      over_5000 ${counter} not null,
      primary key (site_no, grain, bucket, container_id, tag_key)
    ) ${clustered}`,
    `create table event_tag_rollups (
      site_no ${integer} not null,
      grain ${integer} not null,
      bucket ${integer} not null,
      container_id text not null,
      event_name text not null,
      tag_key text not null,
      success ${counter} not null,
      failure ${counter} not null,
      timeout ${counter} not null,
      exception ${counter} not null,
      primary key (site_no, grain, bucket, container_id, event_name, tag_key)
    ) ${clustered}`,
    `create table rollup_marks (
      site_no ${integer} not null,
      grain ${integer} not null,
      bucket ${integer} not null,
      primary key (site_no, grain, bucket)
    ) ${clustered}`,
    'create index rollup_marks_by_bucket on rollup_marks (grain, bucket)',

    `create table site_containers (
      site_no ${integer} not null,
      container_id text not null,
      last_seen_at ${integer} not null,
      primary key (site_no, container_id)
    ) ${clustered}`,
    `create table tag_names (
      site_no ${integer} not null,
      container_id text not null,
      tag_id text not null,
      tag_name text not null,
      last_seen_at ${integer} not null,
      primary key (site_no, container_id, tag_id, tag_name)
    ) ${clustered}`,
    `create table daily_names (
      site_no ${integer} not null,
      day ${integer} not null,
      kind text not null,
      name text not null,
      primary key (site_no, day, kind, name)
    ) ${clustered}`,
    `create table recent_payloads (
      site_no ${integer} not null,
      id ${integer} not null,
      accepted_at ${integer} not null,
      payload text not null,
      primary key (site_no, id)
    ) ${clustered}`,
    `create table rejections (
      site_no ${integer} not null,
      id ${integer} not null,
      rejected_at ${integer} not null,
      reason text not null,
      path text not null,
      primary key (site_no, id)
    ) ${clustered}`,
    `create table rejection_counts (
      site_no ${integer} not null,
      bucket ${integer} not null,
      reason text not null,
      total ${integer} not null,
      primary key (site_no, bucket, reason)
    ) ${clustered}`,

    `create table write_checks (
      id ${integer} primary key,
      checked_at ${integer} not null
    )`,
  ],
}
