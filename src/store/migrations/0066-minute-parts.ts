import type { Migration } from './types.ts'

/**
 * Counts of a site's minutes as one row for each fold, packed, in place of some twenty rows. Minute rows that exist stay until they are
 * old. Not `clustered`: SQLite would cut rows of over a kilobyte, and put the rest of each on a page of its own.
 *
 * A roll-up of an older version would take an hour for finished without the parts that it does not know. The new name of the dirty buckets
 * stops it, and its folds: what they would have folded waits in the journal for nodes of this version.
 */
export const minuteParts: Migration = {
  name: '0066-minute-parts',
  statements: ({ integer, json }) => [
    `create table minute_parts (
      site_no ${integer} not null,
      bucket ${integer} not null,
      container_id text not null,
      part ${integer} not null,
      events ${json},
      tags ${json},
      event_tags ${json},
      signals ${json},
      tag_signals ${json},
      fields ${json},
      primary key (site_no, bucket, container_id, part)
    )`,
    'alter table rollup_marks rename to dirty_buckets',
    'drop index rollup_marks_by_bucket',
    'create index dirty_buckets_by_bucket on dirty_buckets (grain, bucket)',
  ],
}
