import type { Migration } from './types.ts'

/** Pages of the dashboard with their filters, which people save for everyone. */
export const savedViews: Migration = {
  name: '0035-saved-views',
  statements: ({ integer }) => [
    `create table saved_views (
      id text primary key,
      name text not null,
      path text not null,
      created_at ${integer} not null,
      created_by text not null
    )`,
  ],
}
