import type { Migration } from './types.ts'

/** Keys for programs. A row holds no token, only its hash; `client_ids` is a JSON list, or null for every client. */
export const apiTokens: Migration = {
  name: '0042-api-tokens',
  statements: ({ integer }) => [
    `create table api_tokens (
      id text primary key,
      name text not null,
      token_hash text not null unique,
      hint text not null,
      role text not null,
      client_ids text,
      created_at ${integer} not null,
      created_by text not null,
      expires_at ${integer},
      last_used_at ${integer}
    )`,
  ],
}
