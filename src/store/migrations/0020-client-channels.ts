import type { Migration } from './types.ts'

/** Ways to reach people of a client besides its chat webhook and its e-mail addresses, as many as it wants. */
export const clientChannels: Migration = {
  name: '0020-client-channels',
  statements: ({ integer }) => [
    `create table client_channels (
      id text primary key,
      client_id text not null,
      kind text not null,
      name text not null,
      address text not null,
      minimum_severity text not null,
      is_active ${integer} not null,
      created_at ${integer} not null
    )`,
    'create index client_channels_by_client on client_channels (client_id, id)',
  ],
}
