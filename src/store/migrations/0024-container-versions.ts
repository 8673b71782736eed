import type { Migration } from './types.ts'

/** Which versions of a site's containers sent something, and when first and last. */
export const containerVersions: Migration = {
  name: '0024-container-versions',
  statements: ({ integer, clustered }) => [
    `create table container_versions (
      site_no ${integer} not null,
      container_id text not null,
      version text not null,
      environment text not null,
      first_seen_at ${integer} not null,
      last_seen_at ${integer} not null,
      primary key (site_no, container_id, version, environment)
    ) ${clustered}`,
  ],
}
