import type { Migration } from './types.ts'

/** What several processes on one database tell each other: who lives, who does what, how busy each client's senders are. */
export const nodes: Migration = {
  name: '0002-nodes',
  statements: ({ integer, clustered, ephemeral }) => [
    `create table nodes (
      id text primary key,
      name text not null,
      role text not null,
      version text not null,
      started_at ${integer} not null,
      seen_at ${integer} not null
    )`,
    `create table leases (
      name text primary key,
      node_id text not null,
      claimed_at ${integer} not null
    )`,
    `create ${ephemeral} table client_demand (
      client_id text not null,
      node_id text not null,
      measured_at ${integer} not null,
      requests_per_second ${integer} not null,
      primary key (client_id, node_id)
    ) ${clustered}`,
  ],
}
