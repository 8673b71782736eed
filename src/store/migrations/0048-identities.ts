import type { Migration } from './types.ts'

/**
 * Who people are to an identity provider, the roles that its groups give them, and the sessions that began there. Such roles stand
 * apart from those of `user_roles`: the next sign-in replaces them.
 */
export const identities: Migration = {
  name: '0048-identities',
  statements: ({ integer }) => [
    `create table user_identities (
      id text primary key,
      user_id text not null,
      issuer text not null,
      subject text not null,
      created_at ${integer} not null,
      unique (issuer, subject)
    )`,
    `create index user_identities_by_user on user_identities (user_id)`,
    `create table identity_roles (
      identity_id text not null,
      client_id text not null,
      role text not null,
      primary key (identity_id, client_id)
    )`,
    `create index identity_roles_by_client on identity_roles (client_id)`,
    `alter table sign_ins add column identity_id text`,
    `alter table sign_ins add column sign_out_hint text`,
  ],
}
