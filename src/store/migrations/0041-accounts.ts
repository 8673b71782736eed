import type { Migration } from './types.ts'

/**
 * People with accounts, what each may do of which client (`all` stands for every one), and the one-time links by which they set
 * their passwords. A session may be a user's, and a saved view the own one of someone who does not see every client.
 */
export const accounts: Migration = {
  name: '0041-accounts',
  statements: ({ integer }) => [
    `create table users (
      id text primary key,
      email text not null,
      email_key text not null unique,
      name text not null,
      password_hash text,
      created_at ${integer} not null,
      created_by text not null,
      last_sign_in_at ${integer},
      disabled_at ${integer}
    )`,
    `create table user_roles (
      user_id text not null,
      client_id text not null,
      role text not null,
      primary key (user_id, client_id)
    )`,
    `create index user_roles_by_client on user_roles (client_id)`,
    `create table user_links (
      id text primary key,
      user_id text not null,
      created_at ${integer} not null,
      expires_at ${integer} not null
    )`,
    `alter table sign_ins add column user_id text`,
    `alter table sign_ins add column public_id text`,
    `alter table sign_ins add column created_at ${integer}`,
    `alter table sign_ins add column last_seen_at ${integer}`,
    `alter table sign_ins add column agent text`,
    `alter table saved_views add column owner_id text`,
  ],
}
