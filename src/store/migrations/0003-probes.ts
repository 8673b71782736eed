import type { Migration } from './types.ts'

/**
 * Probes, what they found, and the versions they saw come. None refers to `sites`: in a Citus cluster, where sites are copied
 * to every node, a deletion there does not reach tables on the coordinator (seen with 13.2). They go with the site explicitly.
 */
export const probes: Migration = {
  name: '0003-probes',
  statements: ({ integer, clustered }) => [
    `create table probes (
      id text primary key,
      site_id text not null,
      probe_type text not null,
      name text not null,
      config text not null,
      interval_seconds ${integer} not null,
      timeout_ms ${integer} not null,
      failure_threshold ${integer} not null,
      recovery_threshold ${integer} not null,
      is_active ${integer} not null,
      created_at ${integer} not null,
      next_run_at ${integer} not null,
      claimed_by text,
      claimed_at ${integer},
      last_status text,
      last_message text,
      last_response_time_ms ${integer},
      last_result_at ${integer},
      consecutive_failures ${integer} not null,
      memory text not null
    )`,
    'create index probes_by_site on probes (site_id)',
    'create index probes_due on probes (next_run_at) where is_active = 1',
    `create table probe_results (
      probe_id text not null,
      id text not null,
      status text not null,
      message text not null,
      response_time_ms ${integer},
      details text not null,
      attempts ${integer} not null,
      executed_at ${integer} not null,
      primary key (probe_id, id)
    ) ${clustered}`,
    `create table deploy_markers (
      site_id text not null,
      id text not null,
      at ${integer} not null,
      source text not null,
      from_version text,
      to_version text not null,
      details text not null,
      primary key (site_id, id)
    )`,
  ],
}
