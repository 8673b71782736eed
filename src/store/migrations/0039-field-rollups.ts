import type { Migration } from './types.ts'

/** How often parameters of a site's own were there. A table of its own: whoever names none pays for none. */
export const fieldRollups: Migration = {
  name: '0039-field-rollups',
  statements: ({ integer, counter, clustered }) => [
    `create table field_rollups (
      site_no ${integer} not null,
      grain ${integer} not null,
      bucket ${integer} not null,
      container_id text not null,
      event_name text not null,
      field text not null,
      present ${counter} not null,
      total ${counter} not null,
      primary key (site_no, grain, bucket, container_id, event_name, field)
    ) ${clustered}`,
  ],
}
