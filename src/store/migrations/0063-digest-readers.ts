import type { Migration } from './types.ts'

/** The addresses that digests are sent to, and which of them have unsubscribed. */
export const digestReaders: Migration = {
  name: '0063-digest-readers',
  statements: ({ integer }) => [
    `create table digest_readers (
      id text primary key,
      client_id text not null,
      email text not null,
      secret text not null unique,
      created_at ${integer} not null,
      opted_out_at ${integer},
      unique (client_id, email)
    )`,
  ],
}
