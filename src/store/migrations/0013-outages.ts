import type { Migration } from './types.ts'

/** Since when and until when no process took events, so that silence of our own is not taken for a site's. It begins with the newest time that is stored. */
export const outages: Migration = {
  name: '0013-outages',
  statements: ({ integer }) => [
    `create table outages (
      began_at ${integer} primary key,
      ended_at ${integer} not null
    )`,
    `create table listening (
      id ${integer} primary key,
      listened_until ${integer} not null
    )`,
    'insert into listening (id, listened_until) select 1, checked_at from clock_checks where id = 1',
  ],
}
