import type { Migration } from './types.ts'

/** What other systems counted of a site's events, by the hour: captured shares are told by it. */
export const referenceCounts: Migration = {
  name: '0037-reference-counts',
  statements: ({ integer, counter, clustered }) => [
    `create table reference_counts (
      site_no ${integer} not null,
      source text not null,
      event_name text not null,
      bucket ${integer} not null,
      total ${counter} not null,
      primary key (site_no, source, event_name, bucket)
    )${clustered}`,
    'create index reference_counts_by_age on reference_counts (site_no, bucket)',
  ],
}
