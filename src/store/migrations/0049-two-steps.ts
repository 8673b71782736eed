import type { Migration } from './types.ts'

/** The second step of a sign-in with a password: the secret that an app makes codes of, and the codes for when the app is lost. */
export const twoSteps: Migration = {
  name: '0049-two-steps',
  statements: ({ integer }) => [
    `create table user_two_steps (
      user_id text primary key,
      secret text not null,
      created_at ${integer} not null,
      confirmed_at ${integer},
      last_step ${integer} not null,
      failures ${integer} not null,
      failed_at ${integer} not null
    )`,
    `create table user_recovery_codes (
      id text primary key,
      user_id text not null,
      created_at ${integer} not null
    )`,
    `create index user_recovery_codes_by_user on user_recovery_codes (user_id)`,
  ],
}
