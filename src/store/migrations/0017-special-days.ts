import type { Migration } from './types.ts'

/** Days of a site that people marked: they are no measure for what is usual. */
export const specialDays: Migration = {
  name: '0017-special-days',
  statements: ({ integer }) => [
    `create table special_days (
      id text primary key,
      site_id text not null,
      first_day text not null,
      last_day text not null,
      note text,
      created_at ${integer} not null,
      created_by text not null
    )`,
    'create index special_days_by_site on special_days (site_id)',
  ],
}
