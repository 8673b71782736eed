import type { Migration } from './types.ts'

/** Deleted probes: of which site their results are, as long as days of it are not written that they vouch for. */
export const removedProbes: Migration = {
  name: '0057-removed-probes',
  statements: ({ integer }) => [
    `create table removed_probes (
      id text primary key,
      site_id text not null,
      probe_type text not null,
      interval_seconds ${integer} not null,
      removed_at ${integer} not null
    )`,
    'create index removed_probes_by_site on removed_probes (site_id)',
  ],
}
