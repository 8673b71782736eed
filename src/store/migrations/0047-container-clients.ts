import type { Migration } from './types.ts'

/** Which clients of a site's containers claimed something, and when first and last. */
export const containerClients: Migration = {
  name: '0047-container-clients',
  statements: ({ integer, clustered }) => [
    `create table container_clients (
      site_no ${integer} not null,
      container_id text not null,
      client_name text not null,
      first_seen_at ${integer} not null,
      last_seen_at ${integer} not null,
      primary key (site_no, container_id, client_name)
    ) ${clustered}`,
  ],
}
