import type { Migration } from './types.ts'

/** Canaries that came to ingest: marked events that are in no count. */
export const canaryArrivals: Migration = {
  name: '0031-canary-arrivals',
  statements: ({ integer, clustered }) => [
    `create table canary_arrivals (
      site_no ${integer} not null,
      event_name text not null,
      arrived_at ${integer} not null,
      is_batched ${integer} not null,
      tags text not null,
      primary key (site_no, event_name)
    ) ${clustered}`,
  ],
}
