import type { Migration } from './types.ts'

/** Which steps of which quota a client was told of, so that neither a restart nor another node tells it again. */
export const quotaMessages: Migration = {
  name: '0014-quota-messages',
  statements: ({ integer, clustered }) => [
    `create table quota_messages (
      client_id text not null,
      month ${integer} not null,
      quota ${integer} not null,
      step ${integer} not null,
      written_at ${integer} not null,
      primary key (client_id, month, quota, step)
    ) ${clustered}`,
  ],
}
