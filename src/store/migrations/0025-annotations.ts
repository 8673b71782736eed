import type { Migration } from './types.ts'

/** What happened at a moment, as people or their pipelines say. */
export const annotations: Migration = {
  name: '0025-annotations',
  statements: ({ integer }) => [
    `create table annotations (
      id text primary key,
      client_id text not null,
      site_id text,
      at ${integer} not null,
      text text not null,
      url text,
      created_at ${integer} not null,
      created_by text not null
    )`,
    'create index annotations_by_client on annotations (client_id, at)',
    'create index annotations_by_site on annotations (site_id)',
  ],
}
