import type { Migration } from './types.ts'

/** Who of a client's people is responsible in which week, who stands in, and how far an incident that no one took has gone. */
export const onCall: Migration = {
  name: '0045-on-call',
  statements: ({ integer }) => [
    `create table on_call_rotations (
      client_id text primary key,
      people text not null,
      people_count ${integer} not null,
      timezone text not null,
      handover_weekday ${integer} not null,
      handover_time text not null,
      starts_on text not null,
      escalate_after_minutes ${integer}
    )`,
    `create table on_call_overrides (
      id text primary key,
      client_id text not null,
      person_id text not null,
      starts_at ${integer} not null,
      ends_at ${integer} not null,
      created_by text not null
    )`,
    'create index on_call_overrides_by_client on on_call_overrides (client_id)',
    `create table on_call_escalations (
      incident_id text primary key,
      steps ${integer} not null,
      last_at ${integer} not null
    )`,
  ],
}
