import type { Tables } from '../tables.ts'

/**
 * Where a table's rows are in a Citus cluster: on the node that the hash of a column leads to, `everywhere` as a copy on each
 * node, or on the coordinator alone.
 */
export type Placement = 'site_no' | 'node_id' | 'everywhere' | 'coordinator'

/**
 * Every table's place. A new table belongs here before it compiles; `tagwarden migrate --citus` puts it there.
 *
 * All telemetry of a site shares one placement, so that its rows are on one node: a report, a roll-up and a
 * removal each ask one node, and joins and snapshots never cross nodes.
 */
export const PLACEMENTS: Readonly<Record<keyof Tables, Placement>> = {
  // Few rows, read with every report and joined with the telemetry of any site. First, because sites refer to clients.
  clients: 'everywhere',
  sites: 'everywhere',

  // The bulk of the data and of the writes: what the cluster is there for.
  event_rollups: 'site_no',
  tag_rollups: 'site_no',
  event_tag_rollups: 'site_no',
  signal_rollups: 'site_no',
  tag_signal_rollups: 'site_no',
  field_rollups: 'site_no',
  // Cleared and read in one transaction with the rollups they belong to.
  rollup_marks: 'site_no',
  minute_floors: 'site_no',
  // Joined with `sites` by the overview, and read with every report.
  site_containers: 'site_no',
  tag_names: 'site_no',
  container_versions: 'site_no',
  container_clients: 'site_no',
  // Read by folds, for the sites they write to.
  daily_names: 'site_no',
  // Up to 50 payloads a site, replaced all the time.
  recent_payloads: 'site_no',
  rejections: 'site_no',
  rejection_counts: 'site_no',
  canary_arrivals: 'site_no',
  // A row a key, rewritten once a minute while requests come with it.
  site_key_uses: 'site_no',
  // Read in one snapshot with the counts that they are held against.
  reference_counts: 'site_no',
  // One row a request that carries a key: as many as requests.
  idempotency_keys: 'site_no',

  // Every accepted byte passes through it once; a commit goes to one node, and the processes' rows spread over the nodes.
  journal: 'node_id',
  // Rewritten together with the deletion of the journal rows it refers to.
  folds: 'node_id',

  // One row a client and month, added to by folds: small, and of no site.
  client_usage: 'coordinator',
  // Written with each change of clients and sites; ids count up in one place, and other processes read changes from it.
  audit_log: 'coordinator',
  // A row a create whose caller gave a key, written with its entry in the audit log.
  create_keys: 'coordinator',
  // A few rows a site, written with the audit log and read at the start.
  site_keys: 'coordinator',
  // A row for each site that is being removed.
  site_removals: 'coordinator',
  // A row or two for each process.
  nodes: 'coordinator',
  leases: 'coordinator',
  client_demand: 'coordinator',
  // Claimed and rewritten with every run, by any process.
  probes: 'coordinator',
  // A row a probe that was deleted in the last days.
  removed_probes: 'coordinator',
  // A row a probe, rewritten by the calls of its job.
  pushes: 'coordinator',
  // Written with the probe, and read by probe alone.
  probe_results: 'coordinator',
  // A few rows a site.
  deploy_markers: 'coordinator',
  // Written with the results of probes, in one transaction.
  alerts: 'coordinator',
  alert_events: 'coordinator',
  // A few rows a site, written with the alerts.
  alert_feedback: 'coordinator',
  // Written with the alerts, in one transaction.
  incidents: 'coordinator',
  incident_events: 'coordinator',
  incident_notes: 'coordinator',
  // Read with every batch of results.
  silences: 'coordinator',
  maintenance: 'coordinator',
  // Claimed and rewritten with every message; written with the alerts they are about.
  channels: 'coordinator',
  client_channels: 'coordinator',
  deliveries: 'coordinator',
  // A row a client, with a few overrides; read with the messages.
  on_call_rotations: 'coordinator',
  on_call_overrides: 'coordinator',
  on_call_escalations: 'coordinator',
  digests: 'coordinator',
  // At most two rows a client and month, written with the messages.
  quota_messages: 'coordinator',
  // At most a row a client.
  status_links: 'coordinator',
  status_looks: 'coordinator',
  saved_views: 'coordinator',
  status_subscribers: 'coordinator',
  // A few rows a site, read with its probes.
  special_days: 'coordinator',
  // Read a client at a time, some a day.
  annotations: 'coordinator',
  tag_vendors: 'coordinator',
  // A row a site and day, read by site.
  site_days: 'coordinator',
  // A row a browser, read by its key.
  sign_ins: 'coordinator',
  // Some rows a person or program, read with every call.
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
  // A row a time that the service was down.
  outages: 'coordinator',
}
