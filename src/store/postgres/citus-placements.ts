import type { Tables } from '../tables.ts'

/**
 * Where a table's rows are in a Citus cluster: on the node chosen by the hash of a column, `everywhere` as a copy on each node,
 * or only on the coordinator.
 */
export type Placement = 'site_no' | 'node_id' | 'everywhere' | 'coordinator'

/**
 * Every table's placement. A new table does not compile until it has one here; `tagwarden migrate --citus` applies it.
 *
 * All telemetry of a site has the same placement, so that its rows are on one node: a report, a roll-up and a removal each ask
 * one node, and joins and snapshots never cross nodes.
 */
export const PLACEMENTS: Readonly<Record<keyof Tables, Placement>> = {
  // Few rows, read with every report and joined with any site's telemetry. `clients` is first, because sites refer to it.
  clients: 'everywhere',
  sites: 'everywhere',

  // Most of the data and of the writes: the reason for a cluster.
  event_rollups: 'site_no',
  tag_rollups: 'site_no',
  event_tag_rollups: 'site_no',
  signal_rollups: 'site_no',
  tag_signal_rollups: 'site_no',
  field_rollups: 'site_no',
  // Cleared and read in one transaction with the rollups they belong to.
  minute_parts: 'site_no',
  dirty_buckets: 'site_no',
  minute_floors: 'site_no',
  // Joined with `sites` by the overview, and read with every report.
  site_containers: 'site_no',
  tag_names: 'site_no',
  container_versions: 'site_no',
  container_clients: 'site_no',
  // Read by folds for the sites that they write to.
  daily_names: 'site_no',
  // Up to 50 payloads per site, replaced constantly.
  recent_payloads: 'site_no',
  rejections: 'site_no',
  rejection_counts: 'site_no',
  canary_arrivals: 'site_no',
  // One row per key, rewritten once a minute while requests come with it.
  site_key_uses: 'site_no',
  // Read in one snapshot with the counts that they are compared with.
  reference_counts: 'site_no',
  // One row per request with an idempotency key.
  idempotency_keys: 'site_no',

  // Every accepted byte passes through it once. A commit goes to one node, and the rows of different processes spread over the
  // nodes.
  journal: 'node_id',
  // Rewritten together with the deletion of the journal rows that it refers to.
  folds: 'node_id',

  // One row per client and month, added to by folds: small, and not of a site.
  client_usage: 'coordinator',
  // Written with each change of clients and sites. Ids are assigned in one place, and other processes read changes from it.
  audit_log: 'coordinator',
  // One row per create with an idempotency key, written with its audit entry.
  create_keys: 'coordinator',
  // A few rows per site, written with the audit log and read at the start.
  site_keys: 'coordinator',
  // One row for each site that is being removed.
  site_removals: 'coordinator',
  // One or two rows for each process.
  nodes: 'coordinator',
  leases: 'coordinator',
  client_demand: 'coordinator',
  // Claimed and rewritten with every run, by any process.
  probes: 'coordinator',
  // One row per probe that was deleted in the last days.
  removed_probes: 'coordinator',
  // One row per probe, rewritten by its job's calls.
  pushes: 'coordinator',
  // Written with the probe and read by probe only.
  probe_results: 'coordinator',
  // A few rows per site.
  deploy_markers: 'coordinator',
  // Written with the results of probes, in one transaction.
  alerts: 'coordinator',
  alert_events: 'coordinator',
  // A few rows per site, written with the alerts.
  alert_feedback: 'coordinator',
  // Written with the alerts, in one transaction.
  incidents: 'coordinator',
  incident_events: 'coordinator',
  incident_notes: 'coordinator',
  // Read with every batch of results.
  silences: 'coordinator',
  maintenance: 'coordinator',
  // Claimed and rewritten with every message, and written with the alerts they are about.
  channels: 'coordinator',
  client_channels: 'coordinator',
  deliveries: 'coordinator',
  // One row per client, with a few overrides; read with the messages.
  on_call_rotations: 'coordinator',
  on_call_overrides: 'coordinator',
  on_call_escalations: 'coordinator',
  digests: 'coordinator',
  // At most two rows per client and month, written with the messages.
  quota_messages: 'coordinator',
  // At most one row per client.
  status_links: 'coordinator',
  status_looks: 'coordinator',
  saved_views: 'coordinator',
  status_subscribers: 'coordinator',
  announced_incidents: 'coordinator',
  announced_maintenance: 'coordinator',
  digest_readers: 'coordinator',
  // A few rows per site, read with its probes.
  special_days: 'coordinator',
  // A few a day, read by client.
  annotations: 'coordinator',
  tag_vendors: 'coordinator',
  // One row per site and day, read by site.
  site_days: 'coordinator',
  // One row per browser, read by its key.
  sign_ins: 'coordinator',
  // A few rows per person or program, read with every call.
  users: 'coordinator',
  user_roles: 'coordinator',
  user_links: 'coordinator',
  user_identities: 'coordinator',
  identity_roles: 'coordinator',
  user_two_steps: 'coordinator',
  user_recovery_codes: 'coordinator',
  api_tokens: 'coordinator',
  // One row each.
  write_checks: 'coordinator',
  clock_checks: 'coordinator',
  listening: 'coordinator',
  // One row for each time that the service was down.
  outages: 'coordinator',
}
