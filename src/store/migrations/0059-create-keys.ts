import type { Migration } from './types.ts'

/** What creates were sent with as `Idempotency-Key`, and how they were answered. A row holds no key, only hashes, and the answer sealed with the key. */
export const createKeys: Migration = {
  name: '0059-create-keys',
  statements: ({ integer }) => [
    `create table create_keys (
      id text primary key,
      fingerprint text not null,
      action text not null,
      entity_id text not null,
      answer text,
      created_at ${integer} not null
    )`,
    'create index create_keys_by_age on create_keys (created_at)',
  ],
}
