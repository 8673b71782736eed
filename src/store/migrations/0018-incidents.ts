import type { Migration } from './types.ts'

/**
 * Alerts of one cause are one incident, and people are notified of incidents. Every unresolved alert gets one of its own, under its own
 * id: what was announced before the upgrade is resolved and reminded of after it.
 */
export const incidents: Migration = {
  name: '0018-incidents',
  statements: ({ integer, clustered }) => [
    `create table incidents (
      id text primary key,
      scope text not null,
      client_id text,
      site_id text,
      cause text not null,
      cause_at ${integer},
      vendor text,
      title text not null,
      severity text not null,
      state text not null,
      started_at ${integer} not null,
      opened_at ${integer} not null,
      announced_at ${integer},
      last_announced_at ${integer},
      last_notified_at ${integer},
      notified_severity text,
      announced_alert_id text,
      acknowledged_at ${integer},
      acknowledged_by text,
      resolved_at ${integer},
      lead_alert_id text,
      parent_id text,
      impact text
    )`,
    "create index incidents_unresolved on incidents (site_id) where state <> 'resolved'",
    'create index incidents_by_site on incidents (site_id, id)',
    'create index incidents_by_client on incidents (client_id, id)',
    'create index incidents_by_parent on incidents (parent_id)',
    'create index incidents_by_announced on incidents (announced_alert_id)',
    `create table incident_events (
      incident_id text not null,
      id text not null,
      at ${integer} not null,
      kind text not null,
      actor text,
      text text not null,
      primary key (incident_id, id)
    ) ${clustered}`,
    `create table incident_notes (
      incident_id text not null,
      id text not null,
      at ${integer} not null,
      author text not null,
      text text not null,
      primary key (incident_id, id)
    ) ${clustered}`,
    'alter table alerts add column incident_id text',
    `insert into incidents (id, scope, client_id, site_id, cause, title, severity, state, started_at, opened_at, announced_at,
      last_announced_at, last_notified_at, notified_severity, announced_alert_id, acknowledged_at, acknowledged_by, lead_alert_id)
      select id, 'site', client_id, site_id,
        case
          when subject = 'check' then 'own'
          when probe_type in ('http_health', 'tag_server_infra') then 'server'
          when probe_type = 'tag_manager_version' then 'release'
          when probe_type = 'cmp_check' then 'consent'
          when probe_type in ('data_freshness', 'data_volume') then case when subject = 'target' then 'silence' else 'event' end
          when probe_type in ('tag_missing', 'tag_failure_rate', 'warehouse_events') then 'tag'
          when probe_type in ('tag_latency', 'user_data_quality', 'ecommerce_quality') then 'quality'
          else 'other'
        end,
        title, severity, state, started_at, opened_at, announced_at, last_announced_at, last_notified_at, notified_severity,
        case when announced_at is null then null else id end, acknowledged_at, acknowledged_by, id
      from alerts where state <> 'resolved'`,
    `insert into incident_events (incident_id, id, at, kind, actor, text)
      select id, id, opened_at, 'opened', null, title from alerts where state <> 'resolved'`,
    "update alerts set incident_id = id where state <> 'resolved'",
    'create index alerts_by_incident on alerts (incident_id)',
  ],
}
