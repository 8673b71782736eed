import type { Migration } from './types.ts'

/**
 * Who is signed in with a browser: `id` is the hash of the cookie, `token_print` says which token it was got with, so that the
 * session ends when that one is changed.
 */
export const signIns: Migration = {
  name: '0007-sign-ins',
  statements: ({ integer }) => [
    `create table sign_ins (
      id text primary key,
      role text not null,
      token_print text not null,
      expires_at ${integer} not null
    )`,
  ],
}
