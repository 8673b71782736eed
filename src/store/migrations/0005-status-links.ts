import type { Migration } from './types.ts'

/**
 * Links to status pages: at most one a client, which holds until it is revoked. It does not refer to `clients`, for the reason
 * that 0003 gives: it goes with the client explicitly.
 */
export const statusLinks: Migration = {
  name: '0005-status-links',
  statements: ({ integer }) => [
    `create table status_links (
      client_id text primary key,
      token text not null unique,
      created_at ${integer} not null,
      created_by text not null
    )`,
  ],
}
