import type { Migration } from './types.ts'

/** The addresses that jobs call, and what the last call said: one row a probe, whatever the number of calls. */
export const pushes: Migration = {
  name: '0040-pushes',
  statements: ({ integer }) => [
    `create table pushes (
      probe_id text primary key,
      token text not null,
      token_hash text not null unique,
      made_at ${integer} not null,
      last_at ${integer},
      last_status text,
      last_message text,
      status_since ${integer},
      started_at ${integer},
      duration_ms ${integer},
      run_asked_at ${integer}
    )`,
  ],
}
