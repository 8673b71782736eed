import type { Migration } from './types.ts'

/** Who gets e-mail about the incidents of a client's status page. */
export const statusSubscribers: Migration = {
  name: '0036-status-subscribers',
  statements: ({ integer }) => [
    `create table status_subscribers (
      id text primary key,
      client_id text not null,
      token text not null,
      email text not null,
      secret text not null unique,
      created_at ${integer} not null,
      asked_at ${integer},
      confirmed_at ${integer},
      notified_until ${integer} not null,
      next_mail_at ${integer} not null,
      failures integer not null,
      unique (client_id, email)
    )`,
  ],
}
