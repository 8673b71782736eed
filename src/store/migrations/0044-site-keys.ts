import type { Migration } from './types.ts'

/**
 * Several ingest keys a site, and when each was last used. `sites` keeps the newest of them: a node of the version before, which runs
 * on while nodes are upgraded one after the other, reads that column.
 */
export const siteKeys: Migration = {
  name: '0044-site-keys',
  statements: ({ integer, clustered }) => [
    `create table site_keys (
      id text primary key,
      site_id text not null,
      name text not null,
      ingest_key text not null unique,
      created_at ${integer} not null,
      expires_at ${integer},
      revoked_at ${integer}
    )`,
    'create index site_keys_by_site on site_keys (site_id)',
    `create table site_key_uses (
      site_no ${integer} not null,
      key_id text not null,
      last_used_at ${integer} not null,
      primary key (site_no, key_id)
    ) ${clustered}`,
    `insert into site_keys (id, site_id, name, ingest_key, created_at, revoked_at)
      select id, id, 'main', ingest_key, created_at, key_revoked_at from sites`,
  ],
}
